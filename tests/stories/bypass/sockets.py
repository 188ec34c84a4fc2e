"""Python's other ways with sockets: `sockets.py serve ADDRESS PORT` by socketserver, `sockets.py ask ADDRESS PORT` by select and selectors."""
import select
import selectors
import socket
import socketserver
import sys
import threading

WAYS, ADDRESS, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        data, own = self.request
        own.sendto(data[::-1], self.client_address)
        if data == b"end":
            threading.Thread(target=self.server.shutdown).start()


class Server(socketserver.ThreadingUDPServer):
    allow_reuse_address = True


def serve():
    with Server((ADDRESS, PORT), Answer) as server:
        print("ready", flush=True)
        server.serve_forever(poll_interval=0.1)


def ask():
    ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(5)]
    for end in ends:
        end.connect((ADDRESS, PORT))
        end.setblocking(False)
    for turn in range(50):
        for number, end in enumerate(ends):
            end.send(b"%d of %d" % (number, turn))
        waiting, answers = set(ends), []
        while waiting:
            ready, _, _ = select.select(waiting, [], [], 5)
            answers += [end.recv(100) for end in ready]
            waiting -= set(ready)
            assert ready
        if turn % 20 == 0:
            print(sorted(answers))
    with selectors.DefaultSelector() as selector:
        for number, end in enumerate(ends):
            selector.register(end, selectors.EVENT_READ, number)
            end.send(b"selector %d" % number)
        answers = []
        while len(answers) < len(ends):
            ready = selector.select(5)
            answers += [(key.data, key.fileobj.recv(100)) for key, _ in ready]
            assert ready
        print(sorted(answers))
    ends[0].settimeout(0.05)
    try:
        ends[0].recv(100)
    except TimeoutError as error:
        print(error)
    ends[0].settimeout(5)
    with ends[0].makefile("rwb", buffering=0) as file:
        file.write(b"by a file")
        print(file.read(100))
    ends[0].send(b"end")
    print(ends[0].recv(100))


{"serve": serve, "ask": ask}[WAYS]()
