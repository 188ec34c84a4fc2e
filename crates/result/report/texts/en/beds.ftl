# Beds. Each key is in ja/ as well.

bed-lab = lab: two network namespaces of one machine, joined by a veth pair
bed-lab-switch = lab: several network namespaces of one machine that send to one, joined by a bridge
bed-lab-bridge = lab: two network namespaces of one machine, joined by a Linux bridge in a namespace of its own: the device under test
bed-lab-router = lab: two network namespaces of one machine, and between them a third one whose kernel routes: the device under test
bed-lab-vswitch = lab: two network namespaces of one machine, and between them a third one, the device under test: a Linux router behind two Linux bridges, as a virtual machine that routes is attached to its host
bed-lab-ovs = lab: two network namespaces of one machine, joined by an Open vSwitch in a namespace of its own, which forwards in a daemon (datapath netdev): the device under test
bed-lab-xdp-router = lab: two network namespaces of one machine, and between them a third one in which wireproof's XDP router forwards: the device under test
bed-hosts = hosts: two machines; the second one was controlled over ssh
bed-ports = ports: { $near } and { $far } of one machine, each in a network namespace of its own, so that traffic leaves the port
bed-hosts-one-kernel = hosts: { $count } containers or network namespaces that share one kernel; all but one were controlled over ssh
link-hosts-one-kernel = virtual link
link-hosts-one-kernel-meaning = Virtual links between containers or network namespaces of one machine
