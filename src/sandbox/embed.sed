# prelude.js as a C string constant: comment lines and indentation go, the rest is as written.
1i static const char prelude_source[] =
$a ;
/^ *\/\//d
s/^ *//
/^$/d
s/[\\"?]/\\&/g
s/.*/"&\\n"/
