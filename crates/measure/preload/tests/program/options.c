/* Options, control messages, and what goes wrong. */
#include "common.h"

#include <linux/sockios.h>

static char got[70000];

void options(void) {
    int fd = connected();
    settle(fd);
    struct timeval limit = {0, 400000};
    TELL(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    long before = milliseconds();
    TELL(recv(fd, got, 10, 0));
    long took = milliseconds() - before;
    printf("after %s\n", took >= 395 && took < 2000 ? "400 ms" : "another time");
    TELL(send(fd, "~20 late", 8, 0));
    TELL(recv(fd, got, 10, 0));
    TELL(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
    TELL(recv(fd, got, 10, 0));
    TELL(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK));
    before = milliseconds();
    TELL(recv(fd, got, 10, 0));
    printf("%s\n", milliseconds() - before >= 395 ? "it waited" : "it did not wait");
    int on = 1, off = 0;
    TELL(ioctl(fd, FIONBIO, &on));
    TELL(recv(fd, got, 10, 0));
    TELL(ioctl(fd, FIONBIO, &off));
    TELL(fcntl(fd, F_GETFL) & O_NONBLOCK);
    int size = 4096;
    socklen_t length = sizeof size;
    TELL(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size));
    TELL(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length));
    printf("room %d\n", size);
    TELL(getsockopt(fd, SOL_SOCKET, SO_ERROR, &size, &length));
    printf("error %d\n", size);
    TELL(setsockopt(fd, SOL_SOCKET, 9999, &size, sizeof size));
    TELL(send(fd, "after", 5, 0));
    TELL(recv(fd, got, 10, 0));

    /* Another peer, none, and the first one again. */
    struct sockaddr_storage none = {.ss_family = AF_UNSPEC};
    TELL(connect(fd, (void *)&none, sizeof none));
    TELL(send(fd, "to whom", 7, 0));
    socklen_t own_length;
    struct sockaddr_storage own = address(own_address, 0, &own_length);
    TELL(getpeername(fd, (void *)&own, &own_length));
    TELL(sendto(fd, "to whom", 7, 0, (void *)&echo, echo_length));
    TELL(recv(fd, got, 10, 0));
    TELL(connect(fd, (void *)&echo, echo_length));
    TELL(send(fd, "again", 5, 0));
    TELL(recv(fd, got, 10, 0));
    TELL(bind(fd, (void *)&echo, echo_length));

    /* Two that share a port. */
    int one = socket(echo.ss_family, SOCK_DGRAM, 0), two = socket(echo.ss_family, SOCK_DGRAM, 0);
    own = address(own_address, 7009, &own_length);
    setsockopt(one, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    TELL(bind(one, (void *)&own, own_length));
    TELL(bind(two, (void *)&own, own_length));
    setsockopt(two, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    TELL(bind(two, (void *)&own, own_length));
    for (int index = 0; index < 8; index++) {
        int sender = index % 2 ? one : two;
        sendto(sender, "shared", 6, 0, (void *)&echo, echo_length);
        struct pollfd both[2] = {{one, POLLIN, 0}, {two, POLLIN, 0}};
        int ready = poll(both, 2, 5000);
        printf("%d is ready, %zd\n", ready, recv(both[0].revents ? one : two, got, 10, 0));
    }
}

static int level(void) { return echo.ss_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6; }

static void told_control(int fd, int *gro) {
    _Alignas(8) char room[256];
    struct iovec piece = {got, sizeof got};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    TELL(recvmsg(fd, &message, 0));
    printf("flags %x\n", message.msg_flags);
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        unsigned value = 0;
        if (one->cmsg_len >= CMSG_LEN(4)) memcpy(&value, CMSG_DATA(one), 4);
        else value = *CMSG_DATA(one);
        int is_number = one->cmsg_level != SOL_SOCKET && one->cmsg_len <= CMSG_LEN(4);
        printf("level %d, type %d, %zu bytes, %u\n", one->cmsg_level, one->cmsg_type, one->cmsg_len, is_number ? value : 0);
        if (gro && one->cmsg_level == SOL_UDP && one->cmsg_type == UDP_GRO) *gro = value;
    }
}

void control(void) {
    int fd = connected(), on = 1, v4 = level() == IPPROTO_IP;
    settle(fd);
    TELL(setsockopt(fd, level(), v4 ? IP_PKTINFO : IPV6_RECVPKTINFO, &on, sizeof on));
    TELL(setsockopt(fd, level(), v4 ? IP_RECVTTL : IPV6_RECVHOPLIMIT, &on, sizeof on));
    TELL(setsockopt(fd, level(), v4 ? IP_RECVTOS : IPV6_RECVTCLASS, &on, sizeof on));
    TELL(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on));
    TELL(send(fd, "control", 7, 0));
    told_control(fd, NULL);
    /* Time to live and type of service, by options and by a message. */
    int ttl = 33, tos = 0x20;
    TELL(setsockopt(fd, level(), v4 ? IP_TTL : IPV6_UNICAST_HOPS, &ttl, sizeof ttl));
    TELL(setsockopt(fd, level(), v4 ? IP_TOS : IPV6_TCLASS, &tos, sizeof tos));
    TELL(send(fd, "ttl", 3, 0));
    told_control(fd, NULL);
    _Alignas(8) char room[64] = {0};
    struct iovec piece = {"by message", 10};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = CMSG_SPACE(4)};
    struct cmsghdr *one = CMSG_FIRSTHDR(&message);
    *one = (struct cmsghdr){CMSG_LEN(4), level(), v4 ? IP_TTL : IPV6_HOPLIMIT};
    memcpy(CMSG_DATA(one), &ttl, 4);
    TELL(sendmsg(fd, &message, 0));
    told_control(fd, NULL);
    one->cmsg_type = 9999;
    TELL(sendmsg(fd, &message, 0));
    /* Cut by the kernel, or as the kernel would. */
    *one = (struct cmsghdr){CMSG_LEN(2), SOL_UDP, UDP_SEGMENT};
    *(unsigned short *)CMSG_DATA(one) = 4;
    TELL(sendmsg(fd, &message, 0));
    for (int index = 0; index < 3; index++) TELL(recv(fd, got, 20, 0));
    int size = 5;
    TELL(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof size));
    TELL(send(fd, "0123456789", 10, 0));
    for (int index = 0; index < 2; index++) TELL(recv(fd, got, 20, 0));
    size = 0;
    TELL(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof size));
    TELL(setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on));
    TELL(send(fd, "gro", 3, 0));
    TELL(recv(fd, got, 20, 0));
    /* Too little room for what comes along. */
    piece = (struct iovec){got, 20};
    message.msg_controllen = 8;
    TELL(send(fd, "little", 6, 0));
    TELL(recvmsg(fd, &message, 0));
    printf("flags %x, control %zu\n", message.msg_flags, message.msg_controllen);
}

/* Pieces that begin on a page that is there, and end on one that is not. */
static void edges_of_memory(int fd) {
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *edge = pages + 8192 - 5;
    munmap(pages + 8192, 4096);
    memset(edge, 'e', 5);
    socklen_t length = sizeof(struct sockaddr_storage);
    struct iovec whole = {edge, 5}, too_long = {edge, 6}, pieces[2] = {{got, 2}, {edge, 9}};
    struct msghdr message = {.msg_name = &echo, .msg_namelen = echo_length, .msg_iov = &too_long, .msg_iovlen = 1};
    struct mmsghdr several[2] = {{message, 0}, {message, 0}};
    several[0].msg_hdr.msg_iov = &whole;
    TELL(sendto(fd, edge, 6, 0, (void *)&echo, echo_length));
    TELL(sendto(fd, "x", 1, 0, (void *)edge, echo_length));
    TELL(sendmsg(fd, &message, 0));
    TELL(sendmsg(fd, (void *)edge, 0));
    TELL(sendmmsg(fd, several, 2, 0));
    TELL(recv(fd, edge, 5000, 0));
    show("edge", edge, 5);
    TELL(sendto(fd, "123456", 6, 0, (void *)&echo, echo_length));
    TELL(recv(fd, edge, 6, MSG_PEEK));
    TELL(recvfrom(fd, got, 10, MSG_PEEK, (void *)edge, &length));
    TELL(recvfrom(fd, got, 10, MSG_PEEK, NULL, NULL));
    message.msg_iov = pieces, message.msg_iovlen = 2;
    TELL(recvmsg(fd, &message, MSG_PEEK));
    pieces[1].iov_base = edge + 2;
    TELL(recvmsg(fd, &message, MSG_PEEK));
    TELL(recvmsg(fd, (void *)edge, MSG_PEEK));
    TELL(recv(fd, pages, 8200, 0));
    show("pages", pages, 6);
    TELL(poll((void *)edge, 1, 0));
    /* Known memory that goes away, or may not be written to any more. */
    TELL(sendto(fd, pages, 6, 0, (void *)&echo, echo_length));
    TELL(recv(fd, pages, 6, MSG_PEEK));
    mprotect(pages, 4096, PROT_READ);
    TELL(recv(fd, pages, 6, MSG_PEEK));
    munmap(pages, 8192);
    TELL(recv(fd, pages, 6, MSG_PEEK));
    TELL(sendto(fd, pages, 6, 0, (void *)&echo, echo_length));
    TELL(recv(fd, got, 6, 0));
}

void pointers(void) {
    int fd = bound();
    settle(fd);
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    TELL(sendto(fd, (void *)8, 10, 0, (void *)&echo, echo_length));
    TELL(sendto(fd, "x", 1, 0, (void *)8, echo_length));
    TELL(sendmsg(fd, (void *)8, 0));
    TELL(sendmmsg(fd, (void *)8, 2, 0));
    TELL(sendto(fd, "bad", 3, 0, (void *)&echo, echo_length));
    TELL(recv(fd, (void *)8, 10, 0));
    TELL(sendto(fd, "bad", 3, 0, (void *)&echo, echo_length));
    TELL(recvfrom(fd, got, 10, 0, (void *)&from, (void *)8));
    TELL(recvmsg(fd, (void *)8, MSG_DONTWAIT));
    TELL(recvmmsg(fd, (void *)8, 1, MSG_DONTWAIT, NULL));
    TELL(epoll_wait(epoll_create1(0), (void *)8, 1, 0));
    /* Pages that are not the program's, or not to be written to. */
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec pieces[2] = {{got, 2}, {page, 10}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    TELL(sendto(fd, page, 10, 0, (void *)&echo, echo_length));
    TELL(sendto(fd, NULL, 10, 0, (void *)&echo, echo_length));
    TELL(sendto(fd, (void *)-1, 10, 0, (void *)&echo, echo_length));
    TELL(sendmsg(fd, &message, 0));
    TELL(writev(fd, pieces, 2));
    TELL(writev(fd, (void *)page, 2));
    TELL(sendto(fd, "lost", 4, 0, (void *)&echo, echo_length));
    TELL(recv(fd, page, 10, 0));
    TELL(sendto(fd, "kept", 4, 0, (void *)&echo, echo_length));
    TELL(recv(fd, page, 10, MSG_PEEK));
    TELL(recv(fd, (void *)"constant", 8, MSG_PEEK));
    TELL(recvfrom(fd, got, 10, MSG_PEEK, (void *)page, (void *)&length));
    TELL(recv(fd, got, 10, 0));
    show("kept", got, 4);
    TELL(recv(fd, page, 10, MSG_DONTWAIT));
    message.msg_iov = (void *)page;
    TELL(recvmsg(fd, &message, 0));
    TELL(recvmmsg(fd, (void *)page, 1, 0, NULL));
    TELL(poll((void *)page, 1, 0));
    TELL(select(fd + 1, (void *)page, NULL, NULL, NULL));
    TELL(ioctl(fd, FIONREAD, page));
    TELL(sendto(fd, "good", 4, 0, (void *)&echo, echo_length));
    TELL(recv(fd, got, 10, 0));
    edges_of_memory(fd);
}

static void wait_for(int fd, const char *what) {
    TELL(send(fd, what, strlen(what), 0));
    TELL(recv(fd, got, 1, MSG_PEEK));
}

/* Pieces that are null, overlap or are too many. */
void pieces(void) {
    int fd = connected();
    settle(fd);
    char one[10] = "..........", two[5] = "....";
    struct iovec null_first[] = {{NULL, 8}, {one, 8}}, null_later[] = {{one, 4}, {NULL, 8}}, overlapping[] = {{one, 6}, {one + 2, 6}, {two, 4}};
    static struct iovec many[1025];
    struct msghdr message = {.msg_iov = null_first, .msg_iovlen = 2}, nowhere = {.msg_iovlen = 1}, of_many = {.msg_iov = many, .msg_iovlen = 1025};
    struct mmsghdr several[] = {{nowhere, 0}, {message, 0}};
    TELL(writev(fd, null_first, 2));
    TELL(sendmsg(fd, &message, 0));
    TELL(sendmsg(fd, &nowhere, 0));
    TELL(sendmsg(fd, &of_many, 0));
    TELL(sendmmsg(fd, several, 2, 0));
    TELL(sendmmsg(fd, several + 1, 1, 0));
    TELL(sendmmsg(fd, NULL, 1, 0));
    TELL(send(fd, NULL, 5, 0));
    TELL(send(fd, NULL, 0, 0));
    TELL(recv(fd, got, 20, 0));

    wait_for(fd, "12345678");
    TELL(readv(fd, NULL, 1));
    TELL(readv(fd, many, 1025));
    TELL(readv(fd, many, -1));
    TELL(recvmsg(fd, &nowhere, 0));
    TELL(recvmsg(fd, &of_many, 0));
    TELL(recvmmsg(fd, NULL, 1, 0, NULL));
    null_later[0].iov_len = (size_t)-1;
    TELL(readv(fd, null_later, 2));
    null_later[0].iov_len = 4;
    TELL(recvmsg(fd, &message, MSG_PEEK));
    TELL(recvmsg(fd, &message, 0));
    TELL(recv(fd, got, 20, MSG_DONTWAIT));
    wait_for(fd, "1234");
    TELL(readv(fd, null_later, 2));
    show("four", one, 10);
    wait_for(fd, "12345");
    TELL(readv(fd, null_later, 2));
    TELL(recv(fd, got, 20, MSG_DONTWAIT));
    wait_for(fd, "null");
    TELL(recv(fd, NULL, 4, 0));
    TELL(recv(fd, got, 20, MSG_DONTWAIT));
    for (int length = 4; length <= 18; length += 7) {
        memset(one, '.', sizeof one), memset(two, '.', sizeof two);
        TELL(send(fd, "abcdefghijklmnopqr", length, 0));
        TELL(readv(fd, overlapping, 3));
        show("overlapping", one, 10), show("behind", two, 5);
    }
}

void errors(void) {
    int fd = bound();
    settle(fd);
    TELL(send(fd, "to whom", 7, 0));
    TELL(sendto(fd, "x", 1, 0, (void *)&echo, 3));
    struct sockaddr_storage odd = echo;
    odd.ss_family = 77;
    TELL(sendto(fd, "x", 1, 0, (void *)&odd, echo_length));
    TELL(sendto(fd, got, 65508 + 100, 0, (void *)&echo, echo_length));
    TELL(recv(-1, got, 10, 0));
    TELL(send(999, got, 10, 0));
    TELL(write(-5, got, 10));
    TELL(read(70000, got, 10));
    TELL(close(-1));
    TELL(close(999));
    TELL(dup(-1));
    TELL(dup2(999, 20));
    TELL(dup2(fd, -1));
    TELL(dup3(fd, fd, 0));
    TELL(fcntl(999, F_GETFD));
    TELL(fcntl(fd, 9999));
    TELL(ioctl(fd, 0x12345));
    TELL(shutdown(999, SHUT_RD));
    TELL(connect(fd, (void *)&echo, 1));
    TELL(fdopen(999, "r") != NULL);

    /* Nobody is at this port: what ICMP says is told once. */
    int nobody = bound();
    socklen_t length;
    struct sockaddr_storage closed = address(echo_address, 7008, &length);
    TELL(connect(nobody, (void *)&closed, length));
    TELL(send(nobody, "anybody", 7, 0));
    pause_for(50);
    TELL(recv(nobody, got, 10, MSG_DONTWAIT));
    TELL(recv(nobody, got, 10, MSG_DONTWAIT));
    TELL(send(nobody, "anybody", 7, 0));
    pause_for(50);
    TELL(send(nobody, "anybody", 7, 0));
    pause_for(50);
    TELL(send(nobody, "anybody", 7, 0));
    pause_for(50);
    int error = 0;
    socklen_t size = sizeof error;
    TELL(getsockopt(nobody, SOL_SOCKET, SO_ERROR, &error, &size));
    printf("%s\n", strerrorname_np(error));
    TELL(send(nobody, "anybody", 7, 0));
    struct pollfd wait = {nobody, POLLIN, 0};
    TELL(poll(&wait, 1, 5000));
    printf("revents %x\n", wait.revents);
    TELL(recv(nobody, got, 10, 0));
    /* Waited for by somebody who sleeps. */
    TELL(send(nobody, "anybody", 7, 0));
    TELL(recv(nobody, got, 10, 0));
}

static void told_stamp(int fd, unsigned long request) {
    struct { long seconds, parts; } stamp = {0};
    struct timespec now;
    errno = UNTOUCHED;
    long asked = ioctl(fd, request, &stamp);
    told(request == SIOCGSTAMP ? "stamp" : "stamp in nanoseconds", asked);
    if (asked) return;
    clock_gettime(CLOCK_REALTIME, &now);
    long ms = (now.tv_sec - stamp.seconds) * 1000 + (now.tv_nsec - stamp.parts * (request == SIOCGSTAMP ? 1000 : 1)) / 1000000;
    printf("%s\n", ms < 0 ? "to come" : ms < 80 ? "now" : ms < 2000 ? "a while ago" : "long ago");
}

static void stamped(int fd, int by_peeking) {
    send(fd, "stamp", 5, 0);
    TELL(recv(fd, got, 10, by_peeking ? MSG_PEEK : 0));
    pause_for(120);
    told_stamp(fd, SIOCGSTAMP), told_stamp(fd, SIOCGSTAMPNS);
    if (by_peeking) TELL(recv(fd, got, 10, 0));
}

/* When the last datagram came. */
void stamps(void) {
    int fd = connected(), early = connected(), beside = connected(), on = 1;
    settle(fd);
    told_stamp(fd, SIOCGSTAMP);
    pause_for(120);
    told_stamp(fd, SIOCGSTAMPNS);
    stamped(fd, 0), stamped(fd, 1);
    told_stamp(early, SIOCGSTAMPNS);
    pause_for(20);
    settle(early);
    stamped(early, 0);
    TELL(setsockopt(beside, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on));
    settle(beside);
    told_stamp(beside, SIOCGSTAMPNS);
}

static void told_mtu(int fd, const char *route) {
    char words[100];
    int mtu = 0;
    socklen_t length = sizeof mtu;
    snprintf(words, sizeof words, route, echo_address);
    printf("%s: %d\n", words, *words ? system(words) : 0);
    TELL(send(fd, "mtu", 3, 0));
    TELL(recv(fd, got, 10, 0));
    TELL(getsockopt(fd, level(), level() == IPPROTO_IP ? IP_MTU : IPV6_MTU, &mtu, &length));
    printf("%d\n", mtu);
}

/* In a namespace of its own: what the path takes is told as the next datagram finds it. */
void mtus(void) {
    int fd = connected(), other = bound(), mtu = 0;
    socklen_t length = sizeof mtu;
    settle(fd), settle(other);
    TELL(getsockopt(other, level(), level() == IPPROTO_IP ? IP_MTU : IPV6_MTU, &mtu, &length));
    told_mtu(fd, "");
    told_mtu(fd, "ip route add %s dev wp0 mtu 1300");
    told_mtu(fd, "ip route replace %s dev wp0 mtu lock 1400");
    TELL(send(fd, got, 1373, 0));
    TELL(getsockopt(fd, level(), 9999, &mtu, &length));
    /* What the link takes is not told by routes of IPv6. */
    if (level() == IPPROTO_IP) told_mtu(fd, "ip route del %s dev wp0");
    else printf("%d\n", system("ip route del 2001:2::2 dev wp0"));
}

/* Without a peer, a socket that the kernel gave its port has none either, until it is used again. */
void unbound(void) {
    int fd = socket(echo.ss_family, SOCK_DGRAM, 0);
    TELL(connect(fd, (void *)&echo, echo_length));
    settle(fd);
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    TELL(connect(fd, &none, sizeof none));
    TELL(send(fd, "x", 1, 0));
    for (int turn = 0; turn < 20; turn++) {
        char answer[16] = {0};
        TELL(sendto(fd, "again", 5, 0, (void *)&echo, echo_length));
        TELL(recv(fd, answer, sizeof answer, 0));
        show("it came", answer, 5);
    }
    TELL(close(fd));
}
