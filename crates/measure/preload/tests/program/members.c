/* epoll sets whose members change under them. */
#include "sets.h"

#include <netinet/udp.h>

#ifndef EPOLLEXCLUSIVE
#define EPOLLEXCLUSIVE (1u << 28)
#endif

static char got[2000];

static void take(int fd) { TELL(recv(fd, got, 20, MSG_DONTWAIT)); }

static void cork(int fd, int on) { setsockopt(fd, IPPROTO_UDP, UDP_CORK, &on, sizeof on); }

/* The kernel's when they are added, and not for ever. */
void later(void) {
    int set = epoll_create1(0), fd = connected();
    cork(fd, 1);
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 1));
    waited("corked", set, 8, 20);
    cork(fd, 0);
    settle(fd);
    ask(fd, "loose");
    waited("loose", set, 8, 2000);
    take(fd);
    /* Under another number than it was added by. */
    int early = connected();
    cork(early, 1);
    TELL(added(set, EPOLL_CTL_ADD, early, EPOLLIN, 2));
    int copy = dup(early);
    TELL(close(early));
    cork(copy, 0);
    settle(copy);
    ask(copy, "copy");
    waited("added by another number", set, 8, 2000);
    TELL(added(set, EPOLL_CTL_MOD, copy, EPOLLIN, 3));
    TELL(added(set, EPOLL_CTL_DEL, copy, 0, 0));
    TELL(added(set, EPOLL_CTL_ADD, copy, EPOLLIN, 3));
    waited("twice", set, 8, 2000);
    /* The first number means another one now. */
    int next = connected();
    printf("%s\n", next == early ? "the same number" : "another number");
    TELL(added(set, EPOLL_CTL_ADD, next, EPOLLIN, 4));
    settle(next);
    ask(next, "next");
    waited("all", set, 8, 2000);
    take(copy), take(next);
    waited("none", set, 8, 20);
    TELL(close(copy));
    ask(next, "next");
    waited("the next one", set, 8, 2000);
    take(next);
    /* Left to the kernel, and taken again. */
    cork(fd, 1);
    cork(fd, 0);
    ask(fd, "back");
    waited("back", set, 8, 2000);
    take(fd);
    ask(fd, "again");
    waited("again", set, 8, 2000);
    take(fd);
    /* Bound by what it sends first. */
    int fresh = socket(echo.ss_family, SOCK_DGRAM, 0);
    TELL(added(set, EPOLL_CTL_ADD, fresh, EPOLLIN, 5));
    for (int turn = 0; turn < 3; turn++) {
        TELL(sendto(fresh, "fresh", 5, 0, (void *)&echo, echo_length));
        waited("fresh", set, 8, 2000);
        take(fresh);
    }
}

/* Several names, several sets. */
void members(void) {
    int fd = connected(), other = connected(), set = epoll_create1(0), second = epoll_create1(0), pipe_ends[2];
    if (pipe(pipe_ends)) return;
    settle(fd), settle(other);
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 1));
    int copy = dup(fd);
    TELL(added(set, EPOLL_CTL_ADD, copy, EPOLLIN, 2));
    TELL(added(set, EPOLL_CTL_ADD, pipe_ends[0], EPOLLIN, 3));
    TELL(added(second, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, 4));
    ask(fd, "copies");
    waited("both names", set, 8, 2000);
    waited("the second set", second, 8, 2000);
    waited("told", second, 8, 20);
    TELL(added(set, EPOLL_CTL_DEL, copy, 0, 0));
    waited("one name", set, 8, 2000);
    TELL(close(fd));
    waited("closed, but not its copy", set, 8, 2000);
    TELL(added(set, EPOLL_CTL_DEL, fd, 0, 0));
    TELL(added(set, EPOLL_CTL_MOD, copy, EPOLLIN, 2));
    take(copy);
    waited("none", set, 8, 20);
    ask(copy, "copy");
    waited("by the copy", set, 8, 2000);
    take(copy);
    TELL(close(copy));
    waited("gone", set, 8, 20);
    /* A set under two names, of which one is closed. */
    ask(other, "other");
    TELL(added(set, EPOLL_CTL_ADD, other, EPOLLIN, 5));
    int twin = dup(set);
    waited("the set", set, 8, 2000);
    waited("its twin", twin, 8, 2000);
    TELL(close(set));
    waited("its twin alone", twin, 8, 2000);
    TELL(added(twin, EPOLL_CTL_MOD, other, EPOLLIN | EPOLLET, 6));
    waited("edge", twin, 8, 2000);
    waited("told", twin, 8, 20);
    take(other);
    ask(other, "more");
    waited("edge", twin, 8, 2000);
    take(other);
    /* Each of those who would have it alone. */
    int third = epoll_create1(0), fourth = epoll_create1(0);
    TELL(added(third, EPOLL_CTL_ADD, other, EPOLLIN | EPOLLEXCLUSIVE, 7));
    TELL(added(fourth, EPOLL_CTL_ADD, other, EPOLLIN | EPOLLEXCLUSIVE | EPOLLET, 8));
    TELL(added(third, EPOLL_CTL_ADD, pipe_ends[0], EPOLLIN | EPOLLEXCLUSIVE, 9));
    TELL(added(third, EPOLL_CTL_MOD, other, EPOLLIN, 7));
    TELL(added(third, EPOLL_CTL_ADD, fourth, EPOLLIN | EPOLLEXCLUSIVE, 9));
    ask(other, "exclusive");
    TELL(write(pipe_ends[1], "p", 1));
    waited("the third", third, 8, 2000);
    waited("the fourth", fourth, 8, 2000);
    waited("told", fourth, 8, 20);
    take(other);
    waited("a pipe", third, 8, 2000);
    TELL(added(third, EPOLL_CTL_DEL, other, 0, 0));
    ask(other, "deleted");
    TELL(read(pipe_ends[0], got, 1));
    waited("deleted", third, 8, 20);
    take(other);
    /* Once each, of one and of the kernel's. */
    TELL(added(third, EPOLL_CTL_ADD, other, EPOLLIN | EPOLLONESHOT, 10));
    TELL(added(third, EPOLL_CTL_DEL, pipe_ends[0], 0, 0));
    TELL(added(third, EPOLL_CTL_ADD, pipe_ends[0], EPOLLIN | EPOLLONESHOT, 11));
    ask(other, "once");
    TELL(write(pipe_ends[1], "p", 1));
    waited("once each", third, 8, 2000);
    waited("no more", third, 8, 20);
    TELL(added(third, EPOLL_CTL_MOD, other, EPOLLIN | EPOLLONESHOT | EPOLLET, 10));
    waited("armed", third, 8, 2000);
    take(other);
    waited("no more", third, 8, 20);
}
