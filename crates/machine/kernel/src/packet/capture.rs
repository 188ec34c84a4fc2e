//! All frames of one interface with their timestamps (packet(7), `TPACKET_V3`). The kernel writes them to shared
//! memory, so frames need no system calls.

use std::{
    io,
    mem::{offset_of, size_of_val},
    os::fd::{AsFd, AsRawFd, OwnedFd},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use model::Nanos;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{bind, checked, hear_all, opened};
use crate::{
    error::{On, Result},
    link::existing,
    socket::set_option,
};

/// Size of a block. The kernel hands a block over when it is full, or [`RETIRE_MS`] after its first frame.
const BLOCK: usize = 1 << 20;
const BLOCKS: usize = 32;
const RETIRE_MS: u32 = 50;

/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h, since Linux 4.20.
const IGNORE_OUTGOING: libc::c_int = 23;

/// Length of both MAC addresses, in front of a VLAN tag.
const ADDRESSES: usize = 12;
/// Default TPID of a VLAN tag.
const ORDINARY_VLAN: u16 = 0x8100;

/// A frame as the kernel saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured<'a> {
    /// Since 1970.
    pub time: Nanos,
    /// Captured bytes without FCS, with a VLAN tag restored that the kernel had removed.
    pub bytes: &'a [u8],
    /// Length without FCS, which exceeds the captured bytes of frames longer than a block.
    pub length: u32,
}

/// A socket that receives all frames, and the memory shared with the kernel.
pub struct Capture {
    socket: OwnedFd,
    memory: ptr::NonNull<u8>,
    /// The next block to be filled.
    next: usize,
    /// A frame with its restored VLAN tag.
    scratch: Vec<u8>,
    dropped: u64,
    interface: String,
}

// SAFETY: the memory belongs to this value and moves with it.
unsafe impl Send for Capture {}

impl Capture {
    /// Opens it on an interface of the caller's namespace in promiscuous mode; optionally captures outgoing frames.
    pub fn open(interface: &str, outgoing: bool) -> Result<Self> {
        const ALL: u16 = libc::ETH_P_ALL as u16;
        let what = format_args!("interface {interface}");
        let index = existing(interface).on("RTM_GETLINK", what)?.header.index;
        let socket = opened().on("socket(AF_PACKET)", what)?;
        let version = libc::tpacket_versions::TPACKET_V3 as u32;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, version).on("setsockopt(PACKET_VERSION)", what)?;
        if !outgoing {
            set_option(&socket, libc::SOL_PACKET, IGNORE_OUTGOING, 1).on("setsockopt(PACKET_IGNORE_OUTGOING)", what)?;
        }
        let memory = shared_memory(&socket).on("setsockopt(PACKET_RX_RING)", what)?;
        let interface = interface.to_owned();
        let capture = Self { socket, memory, next: 0, scratch: Vec::new(), dropped: 0, interface };
        hear_all(&capture.socket, index).on("setsockopt(PACKET_ADD_MEMBERSHIP)", &capture.interface)?;
        bind(&capture.socket, index, ALL).on("bind", &capture.interface)?;
        Ok(capture)
    }

    /// Passes the frames of the next block to `each` in order; waits at most `within` for it. Returns whether there was
    /// one.
    pub fn take(&mut self, within: Duration, mut each: impl FnMut(Captured<'_>)) -> Result<bool> {
        if !self.is_ready() {
            self.wait(within)?;
            if !self.is_ready() {
                return Ok(false);
            }
        }
        let block = self.block();
        // SAFETY: the block is ours until its status is written below, and begins with a header written by the kernel.
        let header = unsafe { (*block.as_ptr().cast::<libc::tpacket_block_desc>()).hdr.bh1 };
        let mut offset = header.offset_to_first_pkt as usize;
        for _ in 0..header.num_pkts {
            // SAFETY: the kernel's offsets lead from one frame to the next within the block.
            let next = unsafe { self.hand_over(block.as_ptr().add(offset), &mut each) };
            offset += next;
        }
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % BLOCKS;
        Ok(true)
    }

    /// Frames dropped so far.
    pub fn dropped(&mut self) -> Result<u64> {
        // `struct tpacket_stats_v3`: packets, drops, and times that the ring was full. Reading resets them.
        let mut statistics = [0_u32; 3];
        let mut length = size_of_val(&statistics) as u32;
        // SAFETY: the kernel writes three numbers, for which there is room.
        checked(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                statistics.as_mut_ptr().cast(),
                &raw mut length,
            )
        })
        .on("getsockopt(PACKET_STATISTICS)", format_args!("interface {}", self.interface))?;
        self.dropped += u64::from(statistics[1]);
        Ok(self.dropped)
    }

    fn block(&self) -> ptr::NonNull<u8> {
        // SAFETY: `next` is less than BLOCKS, the number of blocks in memory.
        unsafe { self.memory.add(self.next * BLOCK) }
    }

    /// Owner of the block.
    fn status(&self) -> &AtomicU32 {
        let offset = offset_of!(libc::tpacket_block_desc, hdr) + offset_of!(libc::tpacket_hdr_v1, block_status);
        // SAFETY: an aligned number in memory that lives as long as `self`; both sides access it as a whole.
        unsafe { AtomicU32::from_ptr(self.block().as_ptr().add(offset).cast()) }
    }

    fn is_ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    fn wait(&self, within: Duration) -> Result<()> {
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
        let mut ready = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        match poll(&mut ready, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(io::Error::from(error)).on("poll", format_args!("interface {}", self.interface)),
        }
    }

    /// Passes one frame to `each`; returns the offset of the next one.
    ///
    /// # Safety
    /// `at` points to a frame that the kernel wrote, in a block that is ours.
    unsafe fn hand_over(&mut self, at: *const u8, each: &mut impl FnMut(Captured<'_>)) -> usize {
        // SAFETY: guaranteed by the caller; the kernel aligns headers.
        let (header, bytes) = unsafe {
            let header = *at.cast::<libc::tpacket3_hdr>();
            (header, std::slice::from_raw_parts(at.add(header.tp_mac.into()), header.tp_snaplen as usize))
        };
        let time = Nanos(u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec));
        let (bytes, length) = match vlan(&header) {
            Some(tag) if bytes.len() >= ADDRESSES => {
                self.scratch.clear();
                self.scratch.extend_from_slice(&bytes[..ADDRESSES]);
                self.scratch.extend_from_slice(&tag);
                self.scratch.extend_from_slice(&bytes[ADDRESSES..]);
                (self.scratch.as_slice(), header.tp_len + tag.len() as u32)
            }
            _ => (bytes, header.tp_len),
        };
        each(Captured { time, bytes, length });
        header.tp_next_offset as usize
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // SAFETY: this memory was mapped with this length, and is no longer used.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), BLOCK * BLOCKS) };
    }
}

/// The VLAN tag that the kernel removed from a frame.
fn vlan(header: &libc::tpacket3_hdr) -> Option<[u8; 4]> {
    let is_told = |bit: u32| header.tp_status & bit != 0;
    let variant = header.hv1;
    let [a, b] =
        if is_told(libc::TP_STATUS_VLAN_TPID_VALID) { variant.tp_vlan_tpid } else { ORDINARY_VLAN }.to_be_bytes();
    let [c, d] = (variant.tp_vlan_tci as u16).to_be_bytes();
    is_told(libc::TP_STATUS_VLAN_VALID).then_some([a, b, c, d])
}

/// Makes the kernel allocate the memory, and maps it.
fn shared_memory(socket: &OwnedFd) -> io::Result<ptr::NonNull<u8>> {
    // Frames may have any length; the frame size is only a formal parameter.
    const FRAME: usize = 2048;
    let request = libc::tpacket_req3 {
        tp_block_size: BLOCK as u32,
        tp_block_nr: BLOCKS as u32,
        tp_frame_size: FRAME as u32,
        tp_frame_nr: (BLOCK * BLOCKS / FRAME) as u32,
        tp_retire_blk_tov: RETIRE_MS,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    // SAFETY: the kernel reads a `struct tpacket_req3`, which `request` is.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_RX_RING,
            (&raw const request).cast(),
            size_of_val(&request) as u32,
        )
    })?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of the requested length.
    let memory =
        unsafe { libc::mmap(ptr::null_mut(), BLOCK * BLOCKS, access, libc::MAP_SHARED, socket.as_raw_fd(), 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    ptr::NonNull::new(memory.cast()).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn frames_come_in_order_with_their_time() {
        let mut capture = Capture::open("lo", false).expect("tests run as root");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let before = crate::clock::of_day();
        for index in 0..100_u8 {
            socket.send_to(&[index; 500], socket.local_addr().expect("bound")).expect("sent");
        }
        let mut seen = Vec::new();
        while seen.len() < 100 {
            let take = |frame: Captured<'_>| {
                if frame.bytes.len() == 14 + 20 + 8 + 500 && frame.time >= before {
                    assert_eq!(frame.length as usize, frame.bytes.len());
                    seen.push(frame.bytes[42]);
                }
            };
            assert!(capture.take(Duration::from_secs(2), take).expect("poll"), "not all came");
        }
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert_eq!(capture.dropped().expect("statistics"), 0);
    }
}
