/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * racer DIR NAME OTHER [DIR NAME OTHER ...]: exchanges NAME and OTHER in each DIR, in turn and
 * as fast as it can, until standard input ends. Then it writes how often it did. The
 * directories are opened first, so that what one exchange does to the path of another matters
 * not.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define PAIRS_MAX 16
#define LOOK_EACH 256 /* exchanges between two looks at standard input */

static int input_ended(void)
{
    struct pollfd in = { .fd = 0, .events = POLLIN };
    char byte;

    return poll(&in, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

int main(int argc, char **argv)
{
    int pairs = (argc - 1) / 3, dirs[PAIRS_MAX];
    unsigned long done = 0;

    if (pairs < 1 || pairs > PAIRS_MAX)
        return 2;
    for (int i = 0; i < pairs; i++) {
        dirs[i] = open(argv[1 + 3 * i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dirs[i] < 0) {
            perror(argv[1 + 3 * i]);
            return 2;
        }
    }
    for (unsigned i = 0; i % LOOK_EACH || !input_ended(); i++) {
        char **pair = argv + 2 + 3 * (i % (unsigned)pairs);

        done += renameat2(dirs[i % (unsigned)pairs], pair[0], dirs[i % (unsigned)pairs],
                          pair[1], RENAME_EXCHANGE) == 0;
    }
    printf("%lu\n", done);
    return 0;
}
