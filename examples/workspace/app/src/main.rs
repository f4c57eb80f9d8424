use serde::Serialize;

/// One reading of the gauge at the harbour wall.
#[derive(Serialize)]
struct Reading {
    minutes: u32,
    millimetres: i32,
}

fn main() {
    let first = Reading { minutes: 0, millimetres: 1480 };
    println!("{} min: {} mm", first.minutes, first.millimetres);
}
