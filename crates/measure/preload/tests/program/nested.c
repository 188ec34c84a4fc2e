/* epoll sets within sets, and sets that several processes have. */
#include "sets.h"

static char got[2000];

static void take(int fd) { TELL(recv(fd, got, 20, 0)); }

/* What comes is not looked at by anybody. */
static void ask_blindly(int fd) {
    send(fd, "beside", 6, 0);
    pause_for(30);
}

/* Sets within sets. */
void nested(void) {
    int fd = connected(), beside = connected(), pipe_ends[2];
    int inner = epoll_create1(0), middle = epoll_create1(0), outer = epoll_create1(0);
    if (pipe(pipe_ends)) return;
    settle(fd), settle(beside);
    ask(fd, "before");
    TELL(added(inner, EPOLL_CTL_ADD, fd, EPOLLIN, 1));
    TELL(added(middle, EPOLL_CTL_ADD, inner, EPOLLIN, 2));
    TELL(added(outer, EPOLL_CTL_ADD, middle, EPOLLIN, 3));
    waited("outer", outer, 8, 2000);
    waited("middle", middle, 8, 2000);
    waited("inner", inner, 8, 2000);
    struct pollfd wait = {outer, POLLIN | POLLOUT, 0};
    TELL(poll(&wait, 1, 2000));
    printf("%x\n", wait.revents);
    fd_set set;
    FD_ZERO(&set); FD_SET(outer, &set);
    TELL(select(outer + 1, &set, NULL, NULL, &(struct timeval){2, 0}));
    take(fd);
    TELL(poll(&wait, 1, 20));
    /* What comes for others is none of theirs. */
    for (int turn = 0; turn < 3; turn++) {
        ask_blindly(beside);
        waited("beside, outer", outer, 8, 20);
        ask_blindly(beside);
        TELL(poll(&wait, 1, 20));
        ask_blindly(beside);
        waited("beside, inner", inner, 8, 20);
        take(beside), take(beside), take(beside);
    }
    send(fd, "~40 later", 9, 0);
    waited("outer, later", outer, 8, 2000);
    take(fd);
    send(fd, "~40 later", 9, 0);
    TELL(poll(&wait, 1, 2000));
    take(fd);
    /* One that comes in when all is nested already, and one of the kernel's. */
    TELL(added(inner, EPOLL_CTL_ADD, beside, EPOLLIN, 4));
    TELL(added(inner, EPOLL_CTL_ADD, pipe_ends[0], EPOLLIN, 5));
    ask(beside, "beside");
    waited("outer", outer, 8, 2000);
    take(beside);
    waited("outer", outer, 8, 20);
    TELL(write(pipe_ends[1], "p", 1));
    waited("outer, a pipe", outer, 8, 2000);
    ask(fd, "both");
    waited("outer, both", outer, 8, 2000);
    waited("inner, both", inner, 8, 2000);
    TELL(read(pipe_ends[0], got, 1));
    waited("outer", outer, 8, 2000);
    take(fd);
    waited("outer", outer, 8, 20);
    /* Edges of a set. */
    TELL(added(outer, EPOLL_CTL_MOD, middle, EPOLLIN | EPOLLET, 6));
    waited("no edge", outer, 8, 20);
    ask(fd, "edge");
    waited("edge", outer, 8, 2000);
    waited("told", outer, 8, 20);
    take(fd);
    ask(fd, "edge");
    waited("edge", outer, 8, 2000);
    take(fd);
    /* Taken out, and closed. */
    TELL(added(middle, EPOLL_CTL_DEL, inner, 0, 0));
    ask(fd, "out");
    waited("outer", outer, 8, 20);
    TELL(added(outer, EPOLL_CTL_ADD, inner, EPOLLIN | EPOLLONESHOT, 7));
    waited("once", outer, 8, 2000);
    waited("no more", outer, 8, 20);
    TELL(added(outer, EPOLL_CTL_MOD, inner, EPOLLIN, 8));
    waited("again", outer, 8, 2000);
    TELL(close(inner));
    waited("closed", outer, 8, 20);
    take(fd);
    ask(fd, "still there");
    take(fd);
}

static void joined(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %x\n", status);
    fflush(stdout);
}

/* A daemon that binds, fills its sets and forks: who goes on is the child. */
void inheriting(void) {
    int pipe_ends[2];
    if (pipe(pipe_ends)) return;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int fd = connected(), fresh = socket(echo.ss_family, SOCK_DGRAM, 0), set = epoll_create1(0), outer = epoll_create1(0);
        if (added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 1) || added(set, EPOLL_CTL_ADD, fresh, EPOLLIN, 2) || added(set, EPOLL_CTL_ADD, pipe_ends[0], EPOLLIN, 3)) exit(1);
        if (added(outer, EPOLL_CTL_ADD, set, EPOLLIN, 4)) exit(1);
        settle(fd);
        pid_t parent = getpid();
        if (fork()) _exit(0);
        while (getppid() == parent) pause_for(5);
        pause_for(200);
        waited("nothing", set, 8, 20);
        for (int turn = 0; turn < 3; turn++) {
            TELL(send(fd, "~20 one", 7, 0));
            waited("one", set, 8, 2000);
            take(fd);
            TELL(sendto(fresh, "~20 fresh", 9, 0, (void *)&echo, echo_length));
            waited("outer", outer, 8, 2000);
            waited("fresh", set, 8, 2000);
            take(fresh);
        }
        waited("nothing", outer, 8, 20);
        TELL(write(pipe_ends[1], "done", 4));
        exit(0);
    }
    joined(child);
    struct pollfd wait = {pipe_ends[0], POLLIN, 0};
    poll(&wait, 1, 20000);
}

/* Parent and child have one set: what the parent has to be woken by is nothing to the child. */
void shared(void) {
    int fd = connected(), quiet = connected(), set = epoll_create1(0);
    struct timeval short_limit = {0, 50000};
    settle(fd), settle(quiet);
    TELL(added(set, EPOLL_CTL_ADD, quiet, EPOLLIN, 1));
    waited("nothing", set, 8, 30);
    setsockopt(quiet, SOL_SOCKET, SO_RCVTIMEO, &short_limit, sizeof short_limit);
    TELL(recv(quiet, got, 20, 0));
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        pause_for(100);
        long before = milliseconds();
        clock_t cpu = clock();
        waited("child", set, 8, 300);
        struct epoll_event event;
        TELL(epoll_pwait(set, &event, 1, 0, NULL));
        TELL(epoll_pwait2(set, &event, 1, &(struct timespec){0, 10000000}, NULL));
        printf("%s, %s\n", milliseconds() - before >= 290 ? "in time" : "too soon",
               (clock() - cpu) * 1000 / CLOCKS_PER_SEC < 150 ? "calm" : "busy");
        exit(0);
    }
    send(fd, "unread", 6, 0);
    joined(child);
    take(fd);
    ask(quiet, "parent");
    waited("parent", set, 8, 2000);
    take(quiet);
}

static void *takes_one(void *argument) {
    char bytes[20];
    TELL(recv(*(int *)argument, bytes, sizeof bytes, 0));
    return NULL;
}

/* Another process has its port too, when it is first used, and gives it back. */
void contended(void) {
    int go[2], ready[2], fd, one = 1;
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    if (pipe(go) || pipe(ready)) return;
    own = address(own_address, 0, &length);
    fd = socket(own.ss_family, SOCK_DGRAM, 0);
    TELL(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){5, 0}, sizeof(struct timeval));
    TELL(bind(fd, (void *)&own, length));
    getsockname(fd, (void *)&own, &length);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char byte;
        int other = socket(own.ss_family, SOCK_DGRAM, 0);
        struct sockaddr_storage nobody = address(echo_address, 9, &length);
        setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        /* It hears none of what comes for the first one. */
        if (bind(other, (void *)&own, length) || connect(other, (void *)&nobody, length)) exit(1);
        close(go[1]);
        exit(write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) < 0);
    }
    TELL(read(ready[0], got, 1));
    settle(fd);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){100000}, sizeof(int));
    settle(fd);
    close(go[0]), close(go[1]);
    joined(child);
    for (int turn = 0; turn < 120; turn++) settle(fd), pause_for(20);
}

/* Another process has what there is, and gives it back. */
void refused(void) {
    int go[2], ready[2];
    if (pipe(go) || pipe(ready)) return;
    fflush(stdout);
    pid_t holder = fork();
    if (!holder) {
        int fd = connected();
        settle(fd), settle(fd);
        close(go[1]);
        if (write(ready[1], "r", 1) != 1) exit(1);
        exit(read(go[0], got, 1) != 0);
    }
    close(go[0]);
    TELL(read(ready[0], got, 1));
    int fd = connected(), fresh = socket(echo.ss_family, SOCK_DGRAM, 0), set = epoll_create1(0);
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN, 1));
    TELL(added(set, EPOLL_CTL_ADD, fresh, EPOLLIN, 2));
    settle(fd);
    waited("nothing", set, 8, 20);
    /* Another thread waits for one of them in the kernel meanwhile. */
    int third = connected();
    settle(third);
    pthread_t waits;
    pthread_create(&waits, NULL, takes_one, &third);
    close(go[1]);
    joined(holder);
    pause_for(300);
    TELL(send(third, "~20 third", 9, 0));
    TELL(pthread_join(waits, NULL));
    for (int turn = 0; turn < 3; turn++) {
        TELL(send(fd, "~20 one", 7, 0));
        waited("one", set, 8, 2000);
        take(fd);
        TELL(sendto(fresh, "~20 fresh", 9, 0, (void *)&echo, echo_length));
        waited("fresh", set, 8, 2000);
        take(fresh);
    }
}

/* Members that have the same data, one shot and little room. */
void alike(void) {
    int fd = connected(), other = connected(), set = epoll_create1(0), outer = epoll_create1(0), ends[2];
    if (pipe(ends)) return;
    settle(fd), settle(other);
    TELL(added(set, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, 1));
    TELL(added(set, EPOLL_CTL_ADD, other, EPOLLIN | EPOLLONESHOT, 1));
    ask(fd, "one");
    waited("one", set, 8, 2000);
    ask(other, "other");
    waited("other", set, 8, 2000);
    take(fd), take(other);
    waited("neither", set, 8, 20);
    /* A pipe with the data of a set. */
    int inner = epoll_create1(0);
    TELL(added(inner, EPOLL_CTL_ADD, fd, EPOLLIN, 2));
    TELL(added(outer, EPOLL_CTL_ADD, inner, EPOLLIN, 3));
    TELL(added(outer, EPOLL_CTL_ADD, ends[0], EPOLLIN | EPOLLET, 3));
    waited("nothing", outer, 8, 20);
    TELL(write(ends[1], "p", 1));
    waited("the pipe", outer, 8, 2000);
    waited("nothing new", outer, 8, 20);
    /* One shot is one, of errors too. */
    int closed = bound(), once = epoll_create1(0);
    struct sockaddr_storage nobody = echo;
    ((struct sockaddr_in *)&nobody)->sin_port = htons(9);
    if (connect(closed, (void *)&echo, echo_length)) return;
    settle(closed);
    TELL(added(once, EPOLL_CTL_ADD, closed, EPOLLIN | EPOLLONESHOT, 4));
    ask(closed, "shot");
    waited("shot", once, 8, 2000);
    take(closed);
    if (connect(closed, (void *)&nobody, echo_length)) return;
    TELL(send(closed, "nobody", 6, 0));
    waited("shot already", once, 8, 100);
    /* Room for one, while what tells of arrivals is there too. */
    int narrow = epoll_create1(0);
    TELL(read(ends[0], got, 1));
    TELL(added(narrow, EPOLL_CTL_ADD, fd, EPOLLOUT, 5));
    TELL(added(narrow, EPOLL_CTL_ADD, other, EPOLLIN, 6));
    for (int turn = 0; turn < 4; turn++) {
        send(other, "~0 narrow", 9, 0);
        pause_for(20);
        TELL(epoll_wait(narrow, &(struct epoll_event){0}, 1, 0));
    }
    /* More numbers than there are bits. */
    struct { fd_set set; unsigned char behind[8192]; } room;
    memset(&room, 0, sizeof room);
    memset(room.behind, 0x55, sizeof room.behind);
    FD_ZERO(&room.set); FD_SET(other, &room.set);
    TELL(select(30000, &room.set, NULL, NULL, NULL));
    int kept = 1;
    for (size_t at = 0; at < sizeof room.behind; at++) kept &= room.behind[at] == 0x55;
    printf("%s\n", kept ? "left alone" : "written to");
    struct mmsghdr none = {0};
    struct timespec wrong = {-1, 2000000000};
    TELL(recvmmsg(other, &none, 1, 0, &wrong));
}
