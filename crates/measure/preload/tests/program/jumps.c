/* Waits that are left by a jump or by cancellation, and the masks of signals that waits take. */
#include "common.h"

#include <setjmp.h>
#include <sys/mman.h>

enum { IN_RECV, IN_RECVMSG, IN_READ, IN_POLL, IN_SELECT, IN_EPOLL, WAYS };
static const char *const names[] = {"recv", "recvmsg", "read", "poll", "select", "epoll_wait"};

static char got[2000];
static sigjmp_buf back;
static volatile sig_atomic_t signals_seen;

static void in(int ms) {
    struct itimerval timer = {{0, 0}, {0, ms * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void wait_by(int way, int fd) {
    char bytes[20];
    struct iovec piece = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    struct pollfd wait = {fd, POLLIN, 0};
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    int sets;
    switch (way) {
    case IN_RECV: recv(fd, bytes, sizeof bytes, 0); break;
    case IN_RECVMSG: recvmsg(fd, &message, 0); break;
    case IN_READ: (void)!read(fd, bytes, sizeof bytes); break;
    case IN_POLL: poll(&wait, 1, -1); break;
    case IN_SELECT:
        FD_ZERO(&set); FD_SET(fd, &set);
        select(fd + 1, &set, NULL, NULL, NULL);
        break;
    case IN_EPOLL:
        sets = epoll_create1(0);
        epoll_ctl(sets, EPOLL_CTL_ADD, fd, &event);
        epoll_wait(sets, &event, 1, -1);
        break;
    }
}

static void talk(const char *what, int fd) {
    memset(got, 0, sizeof got);
    long sent = send(fd, what, strlen(what), 0);
    long came = recv(fd, got, sizeof got, 0);
    printf("%s: %ld, %ld \"%s\"\n", what, sent, came, got);
}

static void jumps_out(int number) { siglongjmp(back, number); }

void jumps(void) {
    int fd = connected(), other = connected();
    settle(fd), settle(other);
    on_signal(SIGALRM, 0, jumps_out);
    for (volatile int way = 0; way < WAYS; way++) {
        in(40);
        if (!sigsetjmp(back, 1)) wait_by(way, fd), printf("%s: it returned\n", names[way]);
        else printf("%s: left\n", names[way]);
        talk("the same", fd);
        talk("the other", other);
    }
}

static volatile int within;
static void calls_within(int number) {
    (void)number;
    for (;;) send(within, "x", 1, 0), recv(within, got, sizeof got, MSG_DONTWAIT);
}

/* Out of calls that do not wait, wherever they are just then: what follows may be the kernel's, but it follows. */
void leaps(void) {
    volatile int fd = connected(), left = 0;
    settle(fd);
    on_signal(SIGALRM, 0, jumps_out);
    struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    volatile long until = milliseconds() + 700;
    if (!sigsetjmp(back, 1)) setitimer(ITIMER_REAL, &often, NULL);
    else left++;
    while (milliseconds() < until) {
        send(fd, "x", 1, 0);
        recv(fd, got, sizeof got, MSG_DONTWAIT);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%s\n", left > 100 ? "often" : "seldom");
    pause_for(100);
    while (recv(fd, got, sizeof got, MSG_DONTWAIT) >= 0) {}
    int next = connected();
    settle(next);
    talk("the next one", next);
    settle(fd);
}

/* A new signal stack in the place of this one, elsewhere. */
static char *other_stack(char *before) {
    enum { SIZE = 1 << 18 };
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t other = {.ss_sp = stack, .ss_size = SIZE};
    if (stack == MAP_FAILED || sigaltstack(&other, NULL)) perror("a signal stack"), exit(1);
    if (before) munmap(before, SIZE);
    return stack;
}

/* Out of the library on a signal stack that is then unmapped. */
void unmapped(void) {
    volatile int fd = connected(), left = 0;
    settle(fd);
    char *volatile stack = NULL;
    struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    on_signal(SIGALRM, 0, jumps_out);
    struct sigaction calls = {.sa_handler = calls_within, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &calls, NULL);
    within = fd;
    volatile long until = milliseconds() + 700;
    sigsetjmp(back, 1);
    setitimer(ITIMER_REAL, &never, NULL);
    while (milliseconds() < until) {
        stack = other_stack(stack);
        left++;
        setitimer(ITIMER_REAL, &often, NULL);
        raise(SIGUSR1);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%s\n", left > 100 ? "often" : "seldom");
    pause_for(100);
    while (recv(fd, got, sizeof got, MSG_DONTWAIT) >= 0) {}
    int next = connected();
    settle(next);
    talk("the next one", next);
}

struct waiter { int way, fd; };

static void *waits(void *argument) {
    struct waiter *self = argument;
    wait_by(self->way, self->fd);
    return NULL;
}

static void cancel_each(int fd) {
    for (int way = 0; way < WAYS; way++) {
        struct waiter waiter = {way, fd};
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, waits, &waiter);
        pause_for(40);
        TELL(pthread_cancel(thread));
        TELL(pthread_join(thread, &result));
        printf("%s: %s\n", names[way], result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    }
}

void cancelled(void) {
    int fd = connected(), other = connected();
    settle(fd), settle(other);
    cancel_each(fd);
    talk("the same", fd);
    talk("the other", other);
}

static sigjmp_buf away;
static void jumps_away(int number) { (void)number; siglongjmp(away, 1); }

static void *sleeps_beside(void *fd) {
    char byte[9];
    struct timespec cpu;
    sigset_t all;
    sigfillset(&all), pthread_sigmask(SIG_BLOCK, &all, NULL);
    int count = 0;
    for (int turn = 0; turn < 8; turn++) count += recv(*(int *)fd, byte, sizeof byte, 0) > 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    printf("%d came, %s\n", count, cpu.tv_sec || cpu.tv_nsec > 500000000 ? "busy" : "calm");
    return NULL;
}

/* Nor does one that sleeps beside who jumped out of its sleep and has not come back keep a core busy. */
static void beside_a_jump(int fd, int other) {
    pthread_t thread;
    struct itimerval soon = {{0, 0}, {0, 100000}};
    setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 300000}, sizeof(struct timeval));
    on_signal(SIGALRM, 0, jumps_away);
    setitimer(ITIMER_REAL, &soon, NULL);
    if (!sigsetjmp(away, 1)) recv(fd, got, sizeof got, 0);
    on_signal(SIGALRM, 0, SIG_DFL), alarm(30);
    pthread_create(&thread, NULL, sleeps_beside, &other);
    pause_for(50);
    send(other, "one", 3, 0), send(fd, "one", 3, 0);
    pthread_join(thread, NULL);
    TELL(recv(fd, got, sizeof got, 0));
}

/* Who sleeps after others were cancelled in their sleep does sleep. */
void calm(void) {
    int fd = connected(), other = connected();
    settle(fd), settle(other);
    cancel_each(fd);
    for (int turn = 0; turn < 3; turn++) {
        send(other, "other", 5, 0);
        pause_for(30);
        TELL(recv(fd, got, sizeof got, MSG_DONTWAIT));
        TELL(recv(other, got, sizeof got, 0));
        struct pollfd wait = {fd, POLLIN, 0};
        clock_t before = clock();
        TELL(poll(&wait, 1, 300));
        long took = (clock() - before) * 1000 / CLOCKS_PER_SEC;
        printf("%s\n", took < 100 ? "calm" : "busy");
    }
    beside_a_jump(fd, other);
}

static void seen(int number) { signals_seen += number == SIGALRM || number == SIGUSR1; }

static void tell_mask(const char *what) {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    printf("%s: %d signals, USR1 %sblocked, ALRM %sblocked\n", what, signals_seen, sigismember(&mask, SIGUSR1) ? "" : "not ",
           sigismember(&mask, SIGALRM) ? "" : "not ");
}

/* What is ready comes before a signal that the call's mask would let in. */
static void mask_each(const char *what, int fd, int sets, int timeout) {
    struct pollfd wait = {fd, POLLIN, 0};
    struct epoll_event event;
    struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000L};
    fd_set set;
    sigset_t empty, alarms;
    sigemptyset(&empty), sigemptyset(&alarms), sigaddset(&alarms, SIGALRM), sigaddset(&alarms, SIGUSR1);
    printf("%s\n", what);
    for (int way = 0; way < 4; way++) {
        raise(SIGUSR1);
        FD_ZERO(&set); FD_SET(fd, &set);
        switch (way) {
        case 0: TELL(ppoll(&wait, 1, &limit, &empty)); break;
        case 1: TELL(pselect(fd + 1, &set, NULL, NULL, &limit, &empty)); break;
        case 2: TELL(epoll_pwait(sets, &event, 1, timeout, &empty)); break;
        case 3: TELL(epoll_pwait2(sets, &event, 1, &limit, &empty)); break;
        }
        tell_mask("after it");
    }
    /* One that lets nothing in is not interrupted. */
    in(30);
    limit = (struct timespec){0, 80000000};
    TELL(ppoll(&wait, 1, &limit, &alarms));
    tell_mask("masked");
    in(30);
    TELL(epoll_pwait(sets, &event, 1, 80, &alarms));
    tell_mask("masked");
    pause_for(60);
}

void masks(void) {
    int fd = connected(), sets = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    settle(fd);
    TELL(epoll_ctl(sets, EPOLL_CTL_ADD, fd, &event));
    on_signal(SIGUSR1, 0, seen), on_signal(SIGALRM, 0, seen);
    sigset_t blocked;
    sigemptyset(&blocked), sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    mask_each("nothing waits", fd, sets, 5000);
    mask_each("nothing waits, at once", fd, sets, 0);
    send(fd, "waits", 5, 0);
    recv(fd, got, 1, MSG_PEEK);
    mask_each("one waits", fd, sets, 5000);
    mask_each("one waits, at once", fd, sets, 0);
    TELL(recv(fd, got, sizeof got, 0));
    sigset_t pending;
    sigpending(&pending);
    printf("%d\n", sigismember(&pending, SIGUSR1));
}
