#include "sets.h"

#include <linux/filter.h>

/* Members that other threads change while somebody sleeps, sets with little room, and calls that take all there is. */

static int set, ours[2], to_workers[2];
static int taken;

static void *puts_in(void *wanted) {
    pause_for(200);
    added(set, wanted ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, ours[0], EPOLLIN, 1);
    return NULL;
}

/* What waits already is told of at once. */
static void meanwhile(const char *what, int is_member) {
    pthread_t thread;
    added(set, is_member ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, ours[0], 0, 1);
    ask(ours[0], what);
    long begun = milliseconds();
    pthread_create(&thread, NULL, puts_in, is_member ? &set : NULL);
    waited(what, set, 8, 3000);
    printf("%s\n", milliseconds() - begun < 1500 ? "soon" : "late");
    pthread_join(thread, NULL);
    char answer[20];
    TELL(recv(ours[0], answer, sizeof answer, 0));
}

static void *works(void *none) {
    char which, answer[20];
    while (read(to_workers[0], &which, 1) == 1 && which < 2) {
        if (recv(ours[(int)which], answer, sizeof answer, MSG_DONTWAIT) > 0) __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        added(set, EPOLL_CTL_MOD, ours[(int)which], EPOLLIN | EPOLLONESHOT, which);
    }
    return none;
}

static int done(void) { return __atomic_load_n(&taken, __ATOMIC_RELAXED); }

/* One thread waits, others take one datagram at a time and arm the socket again. */
static void pool(void) {
    pthread_t workers[3];
    if (pipe(to_workers)) return;
    for (int at = 0; at < 2; at++) added(set, EPOLL_CTL_MOD, ours[at], EPOLLIN | EPOLLONESHOT, at);
    for (int at = 0; at < 3; at++) pthread_create(&workers[at], NULL, works, NULL);
    for (int at = 0; at < 2; at++) send(ours[at], "@100", 4, 0);
    for (long begun = milliseconds(); done() < 200 && milliseconds() - begun < 4000;) {
        struct epoll_event events[2];
        /* Nobody else wakes it. */
        int count = epoll_wait(set, events, 2, 4000);
        for (int at = 0; at < count; at++) {
            char which = events[at].data.u64;
            if (write(to_workers[1], &which, 1) != 1) return;
        }
        if (done() + count >= 198) pause_for(300);
    }
    printf("the workers took %d\n", done());
    for (int at = 0; at < 3; at++)
        if (write(to_workers[1], "\7", 1) != 1) return;
    for (int at = 0; at < 3; at++) pthread_join(workers[at], NULL);
}

void rearmed(void) {
    set = epoll_create1(0);
    for (int at = 0; at < 2; at++) {
        ours[at] = connected();
        settle(ours[at]);
        TELL(added(set, EPOLL_CTL_ADD, ours[at], EPOLLIN, at));
    }
    meanwhile("added", 0);
    meanwhile("changed", 1);
    pool();
}

/* More is ready than there is room for: each has its turn, whoever it is of. */
void turns(void) {
    int all = epoll_create1(0), pipes[2][2], seen = 0;
    for (int at = 0; at < 2; at++) {
        int fd = connected();
        if (pipe(pipes[at]) || write(pipes[at][1], "x", 1) != 1) return;
        settle(fd);
        TELL(added(all, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT, at));
        TELL(added(all, EPOLL_CTL_ADD, pipes[at][0], EPOLLIN, 2 + at));
        ask(fd, "wait");
    }
    for (int turn = 0; turn < 16; turn++) {
        struct epoll_event event;
        if (epoll_wait(all, &event, 1, 1000) == 1) seen |= 1 << event.data.u64;
    }
    printf("told of: %x\n", seen);
    for (int turn = 0; turn < 4; turn++) {
        struct epoll_event event;
        TELL(epoll_wait(all, &event, 1, 1000));
        waited("each once", all, 8, 1000);
    }
}

/* Fragments come through the kernel: who takes until there is nothing has all of them. */
void drained(void) {
    int fd = connected(), room = 4 << 20;
    static char answer[4000];
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    settle(fd);
    for (int round = 0; round < 20; round++) {
        int count = 0;
        for (int turn = 0; turn < 10; turn++) send(fd, "#3000", 5, 0);
        for (int turn = 0; turn < 200; turn++) {
            int waiting = 0;
            pause_for(2);
            if (turn > 20 && !ioctl(fd, FIONREAD, &waiting) && waiting == 3000) break;
        }
        while (recv(fd, answer, sizeof answer, MSG_DONTWAIT) == 3000) count++;
        if (count != 10) printf("took %d\n", count);
    }
    puts("drained");
}

/* Who has the port of a socket that was closed does not hear what came for that. */
void reopened(void) {
    for (int round = 0; round < 10; round++) {
        struct sockaddr_storage own;
        socklen_t length = sizeof own;
        char answer[20];
        int fd = connected();
        settle(fd);
        getsockname(fd, (void *)&own, &length);
        send(fd, "@5", 2, 0);
        pause_for(20);
        TELL(close(fd));
        fd = socket(own.ss_family, SOCK_DGRAM, 0);
        TELL(bind(fd, (void *)&own, length));
        TELL(connect(fd, (void *)&echo, echo_length));
        TELL(recv(fd, answer, sizeof answer, MSG_DONTWAIT));
        settle(fd);
        TELL(close(fd));
    }
}

/* Who of several on a port hears is said by a program. */
void chosen(void) {
    struct sock_filter code[] = {{BPF_RET | BPF_K, 0, 0, 1}};
    struct sock_fprog choice = {1, code};
    struct timeval limit = {5, 0};
    struct sockaddr_storage own;
    socklen_t length;
    int fds[2], on = 1, port = 0;
    for (int at = 0; at < 2; at++) {
        own = address(own_address, port, &length);
        fds[at] = socket(own.ss_family, SOCK_DGRAM, 0);
        setsockopt(fds[at], SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
        setsockopt(fds[at], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        TELL(bind(fds[at], (void *)&own, length));
        getsockname(fds[at], (void *)&own, &length);
        /* At the same place in both versions. */
        port = ntohs(((struct sockaddr_in *)&own)->sin_port);
        if (!at) settle(fds[at]);
    }
    TELL(setsockopt(fds[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &choice, sizeof choice));
    int heard[2] = {0};
    for (int turn = 0; turn < 10; turn++) {
        sendto(fds[turn % 2], "who", 3, 0, (void *)&echo, echo_length);
        pause_for(10);
        for (int at = 0; at < 2; at++) {
            char answer[20];
            while (recv(fds[at], answer, sizeof answer, MSG_DONTWAIT) > 0) heard[at]++;
        }
    }
    printf("heard %d and %d\n", heard[0], heard[1]);
}
