/* epoll. */
#include "sets.h"

static char got[2000];

void waited(const char *what, int set, int most, int timeout) {
    struct epoll_event events[8];
    errno = UNTOUCHED;
    int count = epoll_wait(set, events, most, timeout);
    told(what, count);
    /* In no order that anybody promises. */
    for (unsigned tag = 0; tag < 20; tag++)
        for (int index = 0; index < count; index++)
            if (events[index].data.u64 == tag) printf(" %u: %x\n", tag, events[index].events);
}

int added(int set, int operation, int fd, unsigned events, unsigned tag) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(set, operation, fd, &event);
}

void ask(int fd, const char *text) {
    send(fd, text, strlen(text), 0);
    pause_for(30);
}

void epolls(void) {
    int fd = connected(), other = connected(), pipe_ends[2], set = epoll_create1(0);
    if (pipe(pipe_ends)) return;
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 1));
    settle(fd), settle(other);
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 1));
    TELL(added(set, EPOLL_CTL_ADD, other, EPOLLIN | EPOLLOUT, 2));
    TELL(added(set, EPOLL_CTL_ADD, pipe_ends[0], EPOLLIN, 3));
    TELL(added(set, EPOLL_CTL_MOD, pipe_ends[1], EPOLLIN, 4));
    TELL(added(set, EPOLL_CTL_DEL, 999, 0, 0));
    TELL(added(set, EPOLL_CTL_ADD, set, EPOLLIN, 0));
    TELL(added(fd, EPOLL_CTL_ADD, other, EPOLLIN, 0));
    waited("writable", set, 8, 5000);
    TELL(added(set, EPOLL_CTL_MOD, other, EPOLLIN, 2));
    waited("nothing", set, 8, 0);
    long before = milliseconds();
    waited("a while", set, 8, 50);
    printf("%s\n", milliseconds() - before >= 49 ? "50 ms" : "less");
    ask(fd, "one");
    waited("one", set, 8, 5000);
    waited("still", set, 8, -1);
    ask(other, "other");
    TELL(write(pipe_ends[1], "p", 1));
    waited("all", set, 8, 5000);
    /* One at a time: each has its turn. */
    int seen = 0;
    for (int turn = 0; turn < 30; turn++) {
        struct epoll_event event;
        if (epoll_wait(set, &event, 1, 1000) == 1) seen |= 1 << event.data.u64;
    }
    printf("in turn %x\n", seen);
    TELL(recv(fd, got, 20, 0));
    waited("two", set, 8, 5000);
    TELL(recv(other, got, 20, 0));
    TELL(read(pipe_ends[0], got, 20));
    waited("none", set, 8, 0);
    send(fd, "~60 later", 9, 0);
    waited("later", set, 8, 5000);
    TELL(recv(fd, got, 20, 0));
    TELL(added(set, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLRDNORM, 7));
    ask(fd, "seven");
    waited("seven", set, 8, 5000);
    TELL(added(set, EPOLL_CTL_DEL, fd, 0, 0));
    waited("deleted", set, 8, 20);
    TELL(recv(fd, got, 20, 0));
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 8));
    ask(fd, "eight");
    struct timespec limit = {5, 0};
    struct epoll_event event;
    TELL(epoll_pwait2(set, &event, 1, &limit, NULL));
    TELL(epoll_pwait(set, &event, 1, 5000, NULL));
    printf("%x\n", event.events);
    TELL(epoll_wait(set, &event, 0, 0));
    TELL(epoll_wait(fd, &event, 1, 0));
    /* A set is itself waited for. */
    struct pollfd wait = {set, POLLIN, 0};
    TELL(poll(&wait, 1, 5000));
    printf("%x\n", wait.revents);
    TELL(recv(fd, got, 20, 0));
    TELL(poll(&wait, 1, 20));
    send(fd, "~30 polled", 10, 0);
    TELL(poll(&wait, 1, 5000));
    TELL(recv(fd, got, 20, 0));
    int outer = epoll_create1(EPOLL_CLOEXEC);
    TELL(added(outer, EPOLL_CTL_ADD, set, EPOLLIN, 9));
    waited("outer, empty", outer, 8, 20);
    ask(fd, "nested");
    waited("outer", outer, 8, 5000);
    waited("inner", set, 8, 0);
    TELL(recv(fd, got, 20, 0));
    waited("outer, empty", outer, 8, 20);
    send(fd, "~30 nested", 10, 0);
    waited("outer, later", outer, 8, 5000);
    waited("inner", set, 8, 0);
    TELL(recv(fd, got, 20, 0));
    /* Closed: gone from the set. */
    ask(fd, "closed");
    TELL(close(fd));
    waited("closed", set, 8, 20);
    TELL(close(set));
    TELL(epoll_wait(set, &event, 1, 0));
}

void edges(void) {
    int fd = connected(), set = epoll_create1(0);
    settle(fd);
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, 1));
    waited("nothing", set, 8, 20);
    ask(fd, "one");
    waited("one", set, 8, 5000);
    waited("told already", set, 8, 20);
    ask(fd, "two");
    waited("another", set, 8, 5000);
    waited("told already", set, 8, 20);
    TELL(recv(fd, got, 20, 0));
    waited("one is left", set, 8, 20);
    TELL(added(set, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET, 1));
    waited("armed again", set, 8, 20);
    TELL(recv(fd, got, 20, 0));
    waited("empty", set, 8, 20);
    TELL(added(set, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 2));
    ask(fd, "once");
    waited("once", set, 8, 5000);
    waited("no more", set, 8, 20);
    ask(fd, "more");
    waited("no more", set, 8, 20);
    TELL(added(set, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 3));
    waited("armed", set, 8, 5000);
    TELL(recv(fd, got, 20, 0));
    TELL(recv(fd, got, 20, 0));
    TELL(added(set, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLONESHOT, 4));
    waited("writable once", set, 8, 5000);
    ask(fd, "unheard");
    waited("no more", set, 8, 20);
    TELL(recv(fd, got, 20, 0));
    TELL(added(set, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLET, 5));
    waited("writable", set, 8, 5000);
    ask(fd, "edge");
    waited("both", set, 8, 5000);
    TELL(recv(fd, got, 20, 0));
    waited("none", set, 8, 20);
    /* Added while something waits. */
    ask(fd, "waits");
    int second = epoll_create1(0);
    TELL(added(second, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, 6));
    waited("waits", second, 8, 5000);
    waited("first", set, 8, 5000);
    TELL(recv(fd, got, 20, 0));
}
