/* Descriptors that are closed by other ways than libc's own functions. */
#include "common.h"

#include <sys/syscall.h>

static char got[2000];

/* As who is without libc calls the kernel. */
static long by_itself(long number, long a, long b, long c) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

/* Twenty answers, asked for in a way that is not seen. */
static void asks(int fd) {
    struct iovec piece = {"@20", 3};
    struct msghdr message = {.msg_name = &echo, .msg_namelen = echo_length, .msg_iov = &piece, .msg_iovlen = 1};
    TELL(by_itself(SYS_sendmsg, fd, (long)&message, 0));
    pause_for(100);
}

static int taken(int fd) {
    int count = 0;
    struct timeval limit = {0, 50000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    while (recv(fd, got, sizeof got, 0) >= 0) count++;
    return count;
}

static int socket_at(const struct sockaddr_storage *own) {
    int fd = socket(own->ss_family, SOCK_DGRAM, 0);
    TELL(bind(fd, (const void *)own, echo_length));
    return fd;
}

/* Long enough that whoever looks around from time to time has looked. */
static void meanwhile(int other) {
    for (int turn = 0; turn < 25; turn++) settle(other), pause_for(20);
}

enum way { BY_SYSCALL, BY_RANGE, BY_ITSELF, BY_COPY };

static void closed_by(enum way way, int fd, int pipe_end) {
    if (way == BY_SYSCALL) TELL(syscall(SYS_close, fd));
    if (way == BY_RANGE) TELL(syscall(SYS_close_range, fd, fd, 0));
    if (way == BY_ITSELF) TELL(by_itself(SYS_close, fd, 0, 0));
    if (way == BY_COPY) TELL(by_itself(SYS_dup3, pipe_end, fd, O_CLOEXEC) == fd);
}

/* Its port and its number are free, and its set does not tell of it any more. */
static void anew(enum way way, int other) {
    int pipe_ends[2], fd = bound(), set = epoll_create1(0);
    struct epoll_event event = {EPOLLIN, {.u64 = 4711}};
    socklen_t length = sizeof(struct sockaddr_storage);
    struct sockaddr_storage own;
    if (pipe(pipe_ends)) return;
    printf("way %d\n", way);
    settle(fd);
    getsockname(fd, (void *)&own, &length);
    TELL(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
    closed_by(way, fd, pipe_ends[0]);
    if (way == BY_COPY) meanwhile(other);
    int next = socket_at(&own);
    TELL((next == fd) == (way != BY_COPY));
    asks(next);
    TELL(epoll_wait(set, &event, 1, 0));
    TELL(taken(next));
    if (way == BY_COPY) {
        TELL(write(pipe_ends[1], "p", 1));
        TELL(read(fd, got, 20));
        TELL(close(fd));
    }
    TELL(close(next));
    close(set), close(pipe_ends[0]), close(pipe_ends[1]);
}

/* One of its names alone, and what has that number next is another thing. */
static void a_name(int other) {
    int fd = connected(), copy = dup(fd), pipe_ends[2];
    settle(fd), settle(copy);
    TELL(by_itself(SYS_close, copy, 0, 0));
    if (pipe(pipe_ends)) return;
    TELL(pipe_ends[0] == copy);
    meanwhile(other);
    TELL(write(pipe_ends[1], "p", 1));
    TELL(read(copy, got, 20));
    settle(fd);
    socklen_t length = sizeof(struct sockaddr_storage);
    struct sockaddr_storage own;
    getsockname(fd, (void *)&own, &length);
    TELL(close(fd));
    int next = socket_at(&own);
    asks(next);
    TELL(taken(next));
    close(next), close(pipe_ends[0]), close(pipe_ends[1]);
}

/* A connection that is accepted has the number of one that was closed. */
static void accepted(void) {
    struct sockaddr_storage own;
    socklen_t length;
    own = address(own_address, 0, &length);
    int listener = socket(own.ss_family, SOCK_STREAM, 0), caller = socket(own.ss_family, SOCK_STREAM, 0), fd = connected();
    if (bind(listener, (void *)&own, length) || listen(listener, 1)) return;
    getsockname(listener, (void *)&own, &length);
    TELL(connect(caller, (void *)&own, length));
    settle(fd);
    TELL(by_itself(SYS_close, fd, 0, 0));
    TELL(accept(listener, NULL, NULL) == fd);
    TELL(send(caller, "stream", 6, 0));
    TELL(recv(fd, got, 20, 0));
    close(fd), close(caller), close(listener);
}

static void *receives(void *fd) {
    TELL(recv(*(int *)fd, got, sizeof got, 0));
    return NULL;
}

/* Whoever waits is told. */
static void shut_down(int by_another) {
    int fd = connected(), status;
    pthread_t thread;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0}, sizeof(struct timeval));
    settle(fd);
    pthread_create(&thread, NULL, receives, &fd);
    pause_for(100);
    clock_t before = clock();
    if (by_another) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) shutdown(fd, SHUT_RD), _exit(0);
        waitpid(child, &status, 0);
    } else {
        by_itself(SYS_shutdown, fd, SHUT_RD, 0);
    }
    pthread_join(thread, NULL);
    TELL(recv(fd, got, sizeof got, 0));
    TELL(send(fd, "still", 5, 0));
    printf("%s\n", (clock() - before) * 1000 / CLOCKS_PER_SEC < 1000 ? "calm" : "busy");
    close(fd);
}

void behind(void) {
    int other = connected();
    for (enum way way = BY_SYSCALL; way <= BY_COPY; way++) anew(way, other);
    a_name(other);
    accepted();
    shut_down(0), shut_down(1);
    settle(other);
    TELL(syscall(SYS_close, 999));
    TELL(syscall(SYS_getpid) == getpid());
    TELL(syscall(SYS_dup3, other, other, 0));
    TELL(syscall(SYS_dup3, other, 70, O_CLOEXEC));
    settle(70);
    /* What is not seen of it is closed with the rest. */
    TELL(syscall(SYS_close_range, 3, ~0U, 0));
    other = connected();
    settle(other);
    TELL(close(other));
}
