# entities.txt as the rows of a C table: { name, also without ';', first and second code point }.
1i static const struct entity entities[] = {
$a };
/^#/d
s/ \([0-9A-F]*\)$/, 0x\1/
s/ \([0-9A-F]*\),/, 0x\1,/
s/^\([A-Za-z0-9]*\)!/"\1", true/
s/^\([A-Za-z0-9]*\),/"\1", false,/
s/.*/    { & },/
