/* Several sockets of the program on one port, of which not all are used for data yet, or go past the kernel. */
#include "common.h"

static int on_port(struct sockaddr_storage *own, socklen_t length, int option) {
    int fd = socket(own->ss_family, SOCK_DGRAM, 0), on = 1, stamps = 8;
    struct timeval limit = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (option) setsockopt(fd, SOL_SOCKET, option, &stamps, sizeof stamps);
    if (bind(fd, (void *)own, length)) perror("bind"), exit(1);
    return fd;
}

/* What each of them has, one that has not been used yet too. */
static void ask(const char *what, int listener, int beside) {
    char got[20];
    printf("%s\n", what);
    sendto(listener, what, strlen(what), 0, (void *)&echo, echo_length);
    pause_for(50);
    long length = recv(beside, got, sizeof got, 0);
    show("beside", got, length);
    TELL(recv(listener, got, sizeof got, MSG_DONTWAIT));
}

void beside(void) {
    socklen_t length;
    struct sockaddr_storage own = address(own_address, 7031, &length);
    int listener = on_port(&own, length, 0);
    settle(listener);
    int peer = on_port(&own, length, 0);
    TELL(connect(peer, (void *)&echo, echo_length));
    ask("connected", listener, peer);
    ask("connected again", listener, peer);
    close(peer);
    settle(listener);
    int kernels = on_port(&own, length, SO_TIMESTAMPING);
    ask("the kernel's", listener, kernels);
    TELL(connect(kernels, (void *)&echo, echo_length));
    ask("the kernel's, connected", listener, kernels);
    close(kernels);
    settle(listener);
    int last = on_port(&own, length, 0);
    ask("alike", listener, last);
    ask("alike again", listener, last);
    close(last);
    settle(listener);
}
