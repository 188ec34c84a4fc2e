/* Thousands of sockets that may share their ports. */
#include "common.h"

#include <sys/resource.h>

enum { COUNT = 4000 };

static int fds[COUNT];

static void with_each(void (*call)(int)) {
    for (int index = 0; index < COUNT; index++) call(fds[index]);
}

static void asks(int fd) {
    char byte;
    recv(fd, &byte, 1, MSG_DONTWAIT);
}

static void changes(int fd) {
    struct timeval limit = {5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static void closes(int fd) { close(fd); }

static void opens(const char *what, int apart) {
    int on = 1;
    clock_t begun = clock();
    for (int index = 0; index < COUNT; index++) {
        socklen_t length;
        struct sockaddr_storage own = address(own_address, 10000 + apart * index, &length);
        fds[index] = socket(own.ss_family, SOCK_DGRAM, 0);
        setsockopt(fds[index], SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fds[index], (void *)&own, length)) perror("bind"), exit(1);
    }
    with_each(asks), with_each(changes), with_each(asks), with_each(closes);
    long took = (clock() - begun) * 1000 / CLOCKS_PER_SEC;
    printf("%s: %s\n", what, took < 6000 ? "quick" : "slow");
}

void many(void) {
    struct rlimit limit = {2 * COUNT, 2 * COUNT};
    if (setrlimit(RLIMIT_NOFILE, &limit)) perror("descriptors"), exit(1);
    int fd = connected();
    settle(fd);
    opens("each with a port of its own", 1);
    opens("all with one port", 0);
    settle(fd);
}
