/* Threads, signals and cancellation. */
#include "common.h"

#include <sys/resource.h>

static char got[2000];
static int common_fd;
static volatile sig_atomic_t signals_seen;

struct worker { int fd; long result; int error; long took; pthread_t thread; };

static void *receiving(void *argument) {
    struct worker *self = argument;
    char bytes[100];
    long before = milliseconds();
    self->result = recv(self->fd, bytes, sizeof bytes, 0);
    self->error = errno;
    self->took = milliseconds() - before;
    return NULL;
}

static void told_worker(const char *what, struct worker *self) {
    pthread_join(self->thread, NULL);
    printf("%s: %ld %s\n", what, self->result, self->result < 0 ? strerrorname_np(self->error) : "");
}

static void *echoing(void *argument) {
    struct worker *self = argument;
    char bytes[100], text[40];
    self->fd = connected();
    settle(self->fd);
    for (int turn = 0; turn < 200; turn++) {
        int length = sprintf(text, "%p %d", argument, turn);
        send(self->fd, text, length, 0);
        self->result += recv(self->fd, bytes, sizeof bytes, 0) == length && !memcmp(bytes, text, length);
    }
    return NULL;
}

static void *coming_and_going(void *argument) {
    struct worker *self = argument;
    for (int turn = 0; turn < 50; turn++) {
        int fd = connected();
        char bytes[10];
        send(fd, "come", 4, 0);
        self->result += recv(fd, bytes, 10, 0) == 4;
        close(fd);
    }
    return NULL;
}

static void *polling(void *argument) {
    struct worker *self = argument;
    struct pollfd wait = {self->fd, POLLIN, 0};
    self->result = poll(&wait, 1, 5000);
    self->result = 1000 * self->result + wait.revents;
    return NULL;
}

static void *waiting_in_select(void *argument) {
    struct worker *self = argument;
    struct timeval limit = {5, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(self->fd, &set);
    self->result = select(self->fd + 1, &set, NULL, NULL, &limit);
    self->error = errno;
    return NULL;
}

static void *waiting_in_epoll(void *argument) {
    struct worker *self = argument;
    struct epoll_event event = {EPOLLIN, {.u64 = 7}};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, self->fd, &event);
    self->result = epoll_wait(set, &event, 1, 300);
    close(set);
    return NULL;
}

void threads(void) {
    struct worker workers[4] = {{0}};
    for (int index = 0; index < 4; index++) pthread_create(&workers[index].thread, NULL, echoing, &workers[index]);
    for (int index = 0; index < 4; index++) told_worker("echoed", &workers[index]);
    for (int index = 0; index < 4; index++) {
        workers[index].result = 0;
        pthread_create(&workers[index].thread, NULL, coming_and_going, &workers[index]);
    }
    for (int index = 0; index < 4; index++) told_worker("came", &workers[index]);
    /* Each waits for its own; one thread's work does not hide another's. */
    for (int index = 0; index < 3; index++) pthread_create(&workers[index].thread, NULL, receiving, &workers[index]);
    pause_for(50);
    for (int index = 2; index >= 0; index--) {
        send(workers[index].fd, "woken", 5, 0);
        pause_for(20);
    }
    for (int index = 0; index < 3; index++) told_worker("received", &workers[index]);
    for (int index = 0; index < 3; index++) pthread_create(&workers[index].thread, NULL, polling, &workers[index]);
    pause_for(50);
    for (int index = 2; index >= 0; index--) send(workers[index].fd, "woken", 5, 0);
    for (int index = 0; index < 3; index++) told_worker("polled", &workers[index]);
    /* Closed while somebody waits: what comes for another socket of the same number is not its. */
    int fd = connected();
    settle(fd);
    struct timeval limit = {0, 300000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    struct worker waits = {.fd = fd};
    pthread_create(&waits.thread, NULL, receiving, &waits);
    pause_for(50);
    TELL(close(fd));
    int next = connected();
    printf("%s\n", next == fd ? "the same number" : "another number");
    settle(next);
    pthread_join(waits.thread, NULL);
    printf("its socket was closed: %ld %s\n", waits.result, strerrorname_np(waits.error));
    /* A call that waits keeps its socket, and has what comes for it. */
    struct sockaddr_storage own;
    socklen_t own_length = sizeof own;
    waits.fd = bound();
    settle(waits.fd);
    getsockname(waits.fd, (struct sockaddr *)&own, &own_length);
    pthread_create(&waits.thread, NULL, receiving, &waits);
    pause_for(50);
    TELL(close(waits.fd));
    pause_for(50);
    TELL(sendto(next, "late", 4, 0, (struct sockaddr *)&own, own_length));
    told_worker("closed meanwhile", &waits);
    pause_for(10);
    fd = socket(own.ss_family, SOCK_DGRAM, 0);
    TELL(bind(fd, (struct sockaddr *)&own, own_length));
    TELL(close(fd));
    TELL(send(next, "next", 4, 0));
    TELL(recv(next, got, 20, 0));
    /* The same of calls that wait for several. */
    void *(*several[])(void *) = {polling, waiting_in_select, waiting_in_epoll};
    for (int index = 0; index < 3; index++) {
        waits.fd = bound();
        settle(waits.fd);
        getsockname(waits.fd, (struct sockaddr *)&own, &own_length);
        pthread_create(&waits.thread, NULL, several[index], &waits);
        pause_for(50);
        TELL(close(waits.fd));
        pause_for(50);
        TELL(sendto(next, "late", 4, 0, (struct sockaddr *)&own, own_length));
        told_worker("several, closed meanwhile", &waits);
    }
    TELL(send(next, "then", 4, 0));
    TELL(recv(next, got, 20, 0));
    /* Shut down while somebody waits. */
    waits.fd = next;
    pthread_create(&waits.thread, NULL, receiving, &waits);
    pause_for(50);
    TELL(shutdown(next, SHUT_RD));
    told_worker("shut down", &waits);
    TELL(recv(next, got, 20, 0));
    TELL(send(next, "out", 3, 0));
}

static void seen(int number) { signals_seen += number == SIGALRM || number == SIGUSR1; }

static void talks(int number) {
    int error = errno;
    char bytes[10];
    seen(number);
    send(common_fd, "handler", 7, 0);
    recv(common_fd, bytes, 10, MSG_DONTWAIT);
    errno = error;
}

static void in(int ms) {
    struct itimerval timer = {{0, 0}, {0, ms * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void signals(void) {
    int fd = connected();
    settle(fd);
    struct timeval none = {0};
    struct pollfd wait = {fd, POLLIN, 0};
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    int sets = epoll_create1(0);
    epoll_ctl(sets, EPOLL_CTL_ADD, fd, &event);
    for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
        printf("%s\n", flags ? "restarted" : "not restarted");
        on_signal(SIGALRM, flags, seen);
        in(50);
        TELL(poll(&wait, 1, 5000));
        in(50);
        FD_ZERO(&set); FD_SET(fd, &set);
        TELL(select(fd + 1, &set, NULL, NULL, NULL));
        in(50);
        TELL(epoll_wait(sets, &event, 1, 5000));
        /* A time limit is never begun again. */
        in(50);
        TELL(recv(fd, got, 20, 0));
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
        in(50);
        if (flags) TELL(send(fd, "~100 late", 9, 0));
        TELL(recv(fd, got, 20, 0));
        in(50);
        if (flags) TELL(send(fd, "~100 late", 9, 0));
        TELL(read(fd, got, 20));
        in(50);
        struct iovec piece = {got, 20};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
        if (flags) TELL(send(fd, "~100 late", 9, 0));
        TELL(recvmsg(fd, &message, 0));
        struct timeval limit = {5, 0};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        printf("%d signals\n", signals_seen);
    }
    /* Ignored ones interrupt nothing. */
    signal(SIGALRM, SIG_IGN);
    in(30);
    TELL(poll(&wait, 1, 80));
    in(30);
    send(fd, "~60 late", 8, 0);
    TELL(recv(fd, got, 20, 0));
    /* Blocked until it is waited. */
    on_signal(SIGUSR1, 0, seen);
    sigset_t blocked, empty;
    sigemptyset(&empty), sigemptyset(&blocked), sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    raise(SIGUSR1);
    TELL(poll(&wait, 1, 20));
    struct timespec limit = {5, 0};
    TELL(ppoll(&wait, 1, &limit, &empty));
    raise(SIGUSR1);
    FD_ZERO(&set); FD_SET(fd, &set);
    TELL(pselect(fd + 1, &set, NULL, NULL, &limit, &empty));
    raise(SIGUSR1);
    TELL(epoll_pwait(sets, &event, 1, 5000, &empty));
    printf("%d signals\n", signals_seen);
    /* A handler that sends and receives itself, in the midst of the same. */
    common_fd = connected();
    settle(common_fd);
    on_signal(SIGALRM, SA_RESTART, talks);
    struct itimerval often = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, NULL);
    int right = 0;
    for (int turn = 0; turn < 3000; turn++) {
        char text[20];
        int length = sprintf(text, "%d", turn);
        send(fd, text, length, 0);
        ssize_t came;
        while ((came = recv(fd, got, 20, 0)) < 0 && errno == EINTR) {}
        right += came == length && !memcmp(got, text, length);
    }
    often = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    printf("%d right\n", right);
}

static void *waits_in(void *argument) {
    int pipe_ends[2];
    struct pollfd wait = {common_fd, POLLIN, 0};
    switch (*(int *)argument) {
    case 1: poll(&wait, 1, -1); break;
    case 2: if (!pipe(pipe_ends)) (void)!read(pipe_ends[0], got, 1); break;
    case 3: select(0, NULL, NULL, NULL, NULL); break;
    }
    return NULL;
}

static void cancels_each(int kind, int end) {
    common_fd = connected();
    settle(common_fd);
    for (; kind < end; kind++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, waits_in, &kind);
        pause_for(40);
        TELL(pthread_cancel(thread));
        TELL(pthread_join(thread, &result));
        printf("%d: %s\n", kind, result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    }
}

void cancels(void) { cancels_each(1, 4); }

static void *waiting_in_a_set(void *argument) {
    struct worker *self = argument;
    struct epoll_event event = {0};
    self->result = epoll_wait(self->fd, &event, 1, 3000);
    self->error = errno;
    return NULL;
}

static void *selecting(void *argument) {
    struct worker *self = argument;
    fd_set set;
    FD_ZERO(&set); FD_SET(self->fd, &set);
    struct timeval limit = {3, 0};
    self->result = select(self->fd + 1, &set, NULL, NULL, &limit);
    self->error = errno;
    return NULL;
}

/* To be cancelled from the start on: our own code is no place for that, what follows is. */
static void *sending(void *argument) {
    struct worker *self = argument;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    int fd = connected();
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    self->result = send(fd, "first", 5, 0);
    pause_for(1000);
    return NULL;
}

static void *receiving_twice(void *argument) {
    struct worker *self = argument;
    char bytes[100];
    for (int turn = 0; turn < 2; turn++) self->result += recv(self->fd, bytes, sizeof bytes, 0) == 7;
    return NULL;
}

/* Who begins to wait just as another thread sends for the first times. */
static void raced(void) {
    struct worker all[64] = {{0}};
    long came = 0;
    for (int index = 0; index < 64; index++) {
        struct timeval limit = {10, 0};
        all[index].fd = socket(echo.ss_family, SOCK_DGRAM, 0);
        setsockopt(all[index].fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        pthread_create(&all[index].thread, NULL, receiving_twice, &all[index]);
        for (int turn = 0; turn < 2; turn++) sendto(all[index].fd, "~5 late", 7, 0, (void *)&echo, echo_length);
    }
    for (int index = 0; index < 64; index++) {
        pthread_join(all[index].thread, NULL);
        came += all[index].result;
        close(all[index].fd);
    }
    printf("raced: %ld\n", came);
}

/* Who waits in the kernel already when another thread's first send takes the socket past it. */
void woken(void) {
    struct worker first = {0};
    void *result;
    pthread_create(&first.thread, NULL, sending, &first);
    TELL(pthread_join(first.thread, &result));
    printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    static void *(*const ways[])(void *) = {waiting_in_a_set, polling, selecting, polling, selecting, waiting_in_a_set};
    for (int way = 0; way < 6; way++) {
        int fd = socket(echo.ss_family, SOCK_DGRAM, 0), set = epoll_create1(0), outer = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN};
        epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
        if (way == 5) epoll_ctl(outer, EPOLL_CTL_ADD, set, &event);
        struct worker waits = {.fd = way == 5 ? outer : way == 1 || way == 2 ? fd : set};
        pthread_create(&waits.thread, NULL, ways[way], &waits);
        pause_for(60);
        sendto(fd, "~40 late", 8, 0, (void *)&echo, echo_length);
        told_worker("woken", &waits);
        TELL(recv(fd, got, 20, MSG_DONTWAIT));
        close(fd), close(set), close(outer);
    }
    raced();
}

/* Memory that another thread unmaps while a call waits, or just before it copies. */
static char *vanishing;
static volatile int is_over;

static char *page(void) {
    return mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *receiving_there(void *argument) {
    struct worker *self = argument;
    self->result = recv(self->fd, vanishing, 100, 0);
    self->error = errno;
    return NULL;
}

static void *receiving_from_there(void *argument) {
    struct worker *self = argument;
    socklen_t *length = (socklen_t *)vanishing;
    *length = sizeof echo;
    self->result = recvfrom(self->fd, got, 100, 0, (struct sockaddr *)(vanishing + 64), length);
    self->error = errno;
    return NULL;
}

static void *receiving_a_message_there(void *argument) {
    struct worker *self = argument;
    struct msghdr *message = (struct msghdr *)vanishing;
    struct iovec *pieces = (struct iovec *)(vanishing + 256);
    pieces[0] = (struct iovec){got, 2}, pieces[1] = (struct iovec){got + 2, 98};
    *message = (struct msghdr){.msg_iov = pieces, .msg_iovlen = 2};
    self->result = recvmsg(self->fd, message, 0);
    self->error = errno;
    return NULL;
}

static void *unmapping(void *argument) {
    while (!is_over) {
        munmap(vanishing, 65536);
        mmap(vanishing, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    return argument;
}

void vanishes(void) {
    void *(*ways[])(void *) = {receiving_there, receiving_from_there, receiving_a_message_there};
    for (int way = 0; way < 6; way++) {
        struct worker waits = {.fd = connected()};
        settle(waits.fd);
        vanishing = page();
        pthread_create(&waits.thread, NULL, ways[way % 3], &waits);
        pause_for(60);
        if (way < 3) munmap(vanishing, 65536);
        else mmap(vanishing, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        send(waits.fd, "gone", 4, 0);
        told_worker("vanished", &waits);
        TELL(recv(waits.fd, got, 20, MSG_DONTWAIT));
        close(waits.fd);
    }
    pthread_t thread;
    int fd = connected(), strange = 0, sent = 0;
    settle(fd);
    vanishing = page();
    pthread_create(&thread, NULL, unmapping, NULL);
    struct iovec pieces[2] = {{vanishing, 700}, {vanishing + 4096, 700}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    struct mmsghdr several[2] = {{message, 0}, {message, 0}};
    long end = milliseconds() + 1500;
    for (int turn = 0; milliseconds() < end; turn++) {
        long result = 0;
        switch (turn % 5) {
        case 0: result = send(fd, vanishing, 1000, 0); sent += result > 0; break;
        case 1: result = sendmsg(fd, &message, 0); break;
        case 2: result = sendmmsg(fd, several, 2, 0); break;
        case 3: result = recv(fd, vanishing, 1400, MSG_DONTWAIT); break;
        case 4: result = recvmsg(fd, &message, MSG_DONTWAIT); break;
        }
        strange += result < 0 && errno != EFAULT && errno != EAGAIN;
    }
    is_over = 1;
    pthread_join(thread, NULL);
    printf("%s, %d strange\n", sent ? "sent" : "sent nothing", strange);
}

/* Many that wait do not keep one another awake. */
void crowd(void) {
    struct worker crowd[16] = {{0}};
    for (int index = 0; index < 16; index++) {
        settle(crowd[index].fd = connected());
        pthread_create(&crowd[index].thread, NULL, receiving, &crowd[index]);
    }
    pause_for(50);
    send(crowd[3].fd, "one", 3, 0);
    clock_t before = clock();
    pause_for(500);
    printf("%s\n", (clock() - before) * 1000 / CLOCKS_PER_SEC < 200 ? "calm" : "busy");
    for (int index = 0; index < 16; index++)
        if (index != 3) send(crowd[index].fd, "one", 3, 0);
    for (int index = 0; index < 16; index++) told_worker("crowd", &crowd[index]);
}

/* Who waits for what may go past the kernel one day does so in its sleep. */
static void *rarely(void *argument) {
    struct worker *self = argument;
    struct pollfd wait = {self->fd, POLLIN, 0};
    struct rusage used;
    self->result = poll(&wait, 1, 1500);
    getrusage(RUSAGE_THREAD, &used);
    self->took = used.ru_nvcsw;
    return NULL;
}

void naps(void) {
    struct worker workers[2] = {{0}};
    for (int index = 0; index < 2; index++) {
        workers[index].fd = socket(echo.ss_family, SOCK_DGRAM, 0);
        pthread_create(&workers[index].thread, NULL, rarely, &workers[index]);
    }
    for (int index = 0; index < 2; index++) {
        told_worker("waited", &workers[index]);
        if (workers[index].took > 40) printf("woke %ld times\n", workers[index].took);
    }
    settle(connected());
}

void sleeps(void) {
    struct pollfd wait = {connected(), POLLIN, 0};
    settle(wait.fd);
    TELL(poll(&wait, 1, 6000));
}
