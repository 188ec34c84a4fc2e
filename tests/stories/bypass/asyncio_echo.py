"""Answers and asks with asyncio: `asyncio_echo.py serve ADDRESS PORT` or `asyncio_echo.py ask ADDRESS PORT`."""
import asyncio
import sys


class Server(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport
        print("ready", flush=True)

    def datagram_received(self, data, address):
        self.transport.sendto(data.upper(), address)
        if data == b"end":
            asyncio.get_running_loop().call_soon(self.over.set_result, None)


class Client(asyncio.DatagramProtocol):
    def __init__(self):
        self.answers = asyncio.Queue()

    def datagram_received(self, data, address):
        self.answers.put_nowait(data)


async def serve(address, port):
    loop = asyncio.get_running_loop()
    Server.over = loop.create_future()
    transport, _ = await loop.create_datagram_endpoint(Server, local_addr=(address, port))
    await asyncio.wait_for(Server.over, 30)
    await asyncio.sleep(0.05)
    transport.close()


async def ask(address, port):
    loop = asyncio.get_running_loop()
    transport, client = await loop.create_datagram_endpoint(Client, remote_addr=(address, port))
    for turn in range(300):
        transport.sendto(b"turn %d" % turn)
        answer = await asyncio.wait_for(client.answers.get(), 5)
        if turn % 100 == 0:
            print(answer)
    transports = [await loop.create_datagram_endpoint(Client, remote_addr=(address, port)) for _ in range(20)]
    for number, (each, _) in enumerate(transports):
        each.sendto(b"many %d" % number)
    print(sorted([await asyncio.wait_for(each.answers.get(), 5) for _, each in transports]))
    transport.sendto(b"end")
    print(await asyncio.wait_for(client.answers.get(), 5))


asyncio.run({"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2], int(sys.argv[3])))
