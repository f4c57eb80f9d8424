/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a process costs at least on this machine. */
int main(void)
{
    return 0;
}
