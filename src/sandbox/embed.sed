# prelude.js as the lines of a C string literal: comment lines and indentation go, the rest is as written.
/^ *\/\//d
s/^ *//
/^$/d
s/[\\"?]/\\&/g
s/.*/"&\\n"/
