//! Packet memory, and exclusive access to its frames.

use std::{
    collections::HashMap,
    ops::Range,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    slice,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create},
    io::Errno,
    net::{
        sockopt::set_xdp_umem_reg,
        xdp::{XdpUmemReg, XdpUmemRegFlags},
    },
};

use super::SocketError;
use crate::mapping::Mapping;

/// Bytes of each frame. For XDP programs, the kernel reserves the first 256 of a frame that it fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameSize {
    /// 2,048: holds 1,792 received bytes.
    Half,
    /// 4,096: holds 3,840 received bytes.
    Page,
}

impl FrameSize {
    /// In bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Half => 2048,
            Self::Page => 4096,
        }
    }
}

/// One frame of a [`Umem`]: the exclusive right to access its bytes. It cannot be copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    umem: u32,
    index: u32,
}

/// A packet, or a part of one, in a frame; without FCS.
#[derive(Debug, PartialEq, Eq)]
pub struct Packet {
    /// Frame.
    pub frame: Frame,
    /// Offset of its first byte in the frame.
    pub offset: u32,
    /// Length in bytes.
    pub length: u32,
    /// Whether the next packet continues it.
    pub more: bool,
}

/// Packet memory, divided into frames of one size. Clones share the memory.
#[derive(Clone)]
pub struct Umem(Arc<Memory>);

struct Memory {
    mapping: Mapping,
    frame_size: usize,
    frames: u32,
    /// Distinguishes its frames from those of other memory.
    id: u32,
    /// The file for mapping it in another process.
    file: Option<OwnedFd>,
    /// The socket of each interface with which the memory is registered, while any socket there uses it.
    ///
    /// A single one for all would make all of them zero-copy or none.
    owners: Mutex<HashMap<String, Weak<OwnedFd>>>,
}

impl Umem {
    /// Allocates memory for `frames` frames; returns it with all of them.
    pub fn new(frames: u32, size: FrameSize) -> Result<(Self, Vec<Frame>), SocketError> {
        let length = length(frames, size)?;
        let mapping = Mapping::anonymous(length).map_err(|_| SocketError::Memory { mib: mib(length) })?;
        let umem = Self::of(mapping, frames, size, None);
        let all = umem.take(0..frames);
        Ok((umem, all))
    }

    /// The same in an anonymous file, whose descriptor ([`file`](Self::file)) another process can
    /// [`adopt`](Self::adopt), but not shorten: that would be a fault here.
    pub fn shared(frames: u32, size: FrameSize) -> Result<(Self, Vec<Frame>), SocketError> {
        let length = length(frames, size)?;
        let memory = |_: Errno| SocketError::Memory { mib: mib(length) };
        let file = memfd_create("wireproof-frames", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).map_err(memory)?;
        ftruncate(&file, length as u64).map_err(memory)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).map_err(memory)?;
        let mapping = Mapping::of_kernel(&file, 0, length).map_err(memory)?;
        let umem = Self::of(mapping, frames, size, Some(file));
        let all = umem.take(0..frames);
        Ok((umem, all))
    }

    /// Maps memory that another process allocated with [`shared`](Self::shared), and takes the frames in `ours`.
    /// Children do not inherit it.
    ///
    /// The other frames belong to that process, or are in the rings of sockets adopted with it.
    pub fn adopt(
        file: OwnedFd,
        frames: u32,
        size: FrameSize,
        ours: Range<u32>,
    ) -> Result<(Self, Vec<Frame>), SocketError> {
        let length = length(frames, size)?;
        let memory = |_: Errno| SocketError::Memory { mib: mib(length) };
        if ours.end > frames || rustix::fs::fstat(&file).map_err(memory)?.st_size < length as i64 {
            return Err(SocketError::BadOption(
                "the memory for packets is smaller than what was said of it".to_owned(),
            ));
        }
        let mapping = Mapping::of_kernel(&file, 0, length).map_err(memory)?;
        mapping.keep_from_children().map_err(memory)?;
        let umem = Self::of(mapping, frames, size, Some(file));
        let ours = umem.take(ours);
        Ok((umem, ours))
    }

    fn of(mapping: Mapping, frames: u32, size: FrameSize, file: Option<OwnedFd>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let id = NEXT.fetch_add(1, Relaxed);
        let owners = Mutex::default();
        Self(Arc::new(Memory { mapping, frame_size: size.bytes(), frames, id, file, owners }))
    }

    /// Frames by their numbers; each is taken once.
    fn take(&self, numbers: Range<u32>) -> Vec<Frame> {
        numbers.map(|index| Frame { umem: self.0.id, index }).collect()
    }

    /// Descriptor of shared memory; `None` for private memory.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.0.file.as_ref().map(AsFd::as_fd)
    }

    /// Bytes of each frame.
    pub fn frame_size(&self) -> usize {
        self.0.frame_size
    }

    /// Number of frames.
    pub fn frames(&self) -> u32 {
        self.0.frames
    }

    /// All bytes of a frame.
    ///
    /// # Panics
    /// If the frame belongs to other memory.
    #[inline]
    pub fn bytes(&self, frame: &Frame) -> &[u8] {
        let (start, length) = self.place(frame);
        // SAFETY: the bytes lie in the mapping, which lives as long as `self`. While this `Frame` exists, neither the
        // kernel nor another holder writes to them.
        unsafe { slice::from_raw_parts(start, length) }
    }

    /// All bytes of a frame, for writing.
    ///
    /// # Panics
    /// If the frame belongs to other memory.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the frame, of which there is one, is what is borrowed mutably")]
    pub fn bytes_mut<'a>(&'a self, frame: &'a mut Frame) -> &'a mut [u8] {
        let (start, length) = self.place(frame);
        // SAFETY: as in `bytes`; nothing else reads them, because the only `Frame` of these bytes is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(start, length) }
    }

    /// The bytes of a packet.
    ///
    /// # Panics
    /// If it belongs to other memory, or lies beyond its frame.
    #[inline]
    pub fn packet(&self, packet: &Packet) -> &[u8] {
        &self.bytes(&packet.frame)[packet.offset as usize..][..packet.length as usize]
    }

    /// The `length` bytes before a packet, for an XDP program's metadata; `None` if its frame starts later.
    ///
    /// # Panics
    /// If it belongs to other memory.
    #[inline]
    pub fn before(&self, packet: &Packet, length: usize) -> Option<&[u8]> {
        let end = packet.offset as usize;
        self.bytes(&packet.frame).get(end.checked_sub(length)?..end)
    }

    /// The bytes of a packet, for writing.
    ///
    /// # Panics
    /// If it belongs to other memory, or lies beyond its frame.
    #[inline]
    pub fn packet_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        &mut self.bytes_mut(&mut packet.frame)[packet.offset as usize..][..packet.length as usize]
    }

    #[inline]
    fn place(&self, frame: &Frame) -> (*mut u8, usize) {
        let Memory { mapping, frame_size, id, .. } = &*self.0;
        assert_eq!(frame.umem, *id, "a frame of other memory");
        // SAFETY: only `take` and `frame_at` create frames, with indices below the number of frames.
        (unsafe { mapping.start().as_ptr().add(frame.index as usize * frame_size) }, *frame_size)
    }

    /// A packet's address for the kernel: its offset in the memory.
    ///
    /// # Panics
    /// If it belongs to other memory, or lies beyond its frame: the kernel would drop it, and the frame with it.
    #[inline]
    pub(super) fn address(&self, packet: &Packet) -> u64 {
        assert_eq!(packet.frame.umem, self.0.id, "a frame of other memory");
        assert!(packet.offset as usize + packet.length as usize <= self.0.frame_size, "a packet beyond its frame");
        self.frame_address(&packet.frame) + u64::from(packet.offset)
    }

    /// Offset of a frame in the memory.
    ///
    /// # Panics
    /// If it belongs to other memory.
    #[inline]
    pub(super) fn frame_address(&self, frame: &Frame) -> u64 {
        assert_eq!(frame.umem, self.0.id, "a frame of other memory");
        u64::from(frame.index) * self.0.frame_size as u64
    }

    /// The frame and the offset in it for an address from a ring; `None` if the address is not in the memory.
    ///
    /// Each call ends the kernel's ownership of the frame, so only addresses from a ring are valid.
    #[inline]
    pub(super) fn frame_at(&self, address: u64) -> Option<(Frame, u32)> {
        // Frame sizes are powers of two.
        let index = address >> self.0.frame_size.trailing_zeros();
        let offset = address as u32 & (self.0.frame_size as u32 - 1);
        (index < u64::from(self.0.frames)).then(|| (Frame { umem: self.0.id, index: index as u32 }, offset))
    }

    /// Registers the memory with a socket of an interface; returns the socket there that already has it, if any.
    pub(super) fn register(&self, fd: &Arc<OwnedFd>, interface: &str) -> Result<Option<Arc<OwnedFd>>, Errno> {
        let mut owners = self.0.owners.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(owner) = owners.get(interface).and_then(Weak::upgrade) {
            return Ok(Some(owner));
        }
        let memory = XdpUmemReg {
            addr: self.0.mapping.start().as_ptr() as u64,
            len: self.0.mapping.length() as u64,
            chunk_size: self.0.frame_size as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        set_xdp_umem_reg(fd, memory)?;
        owners.insert(interface.to_owned(), Arc::downgrade(fd));
        Ok(None)
    }

    /// Size in MiB, rounded up.
    pub(super) fn mib(&self) -> u64 {
        mib(self.0.mapping.length())
    }
}

fn length(frames: u32, size: FrameSize) -> Result<usize, SocketError> {
    if frames == 0 {
        return Err(SocketError::BadOption("memory for packets needs one frame at least".to_owned()));
    }
    Ok(frames as usize * size.bytes())
}

fn mib(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_has_its_own_bytes() {
        let (umem, mut frames) = Umem::new(4, FrameSize::Half).expect("8 KiB");
        for (number, frame) in frames.iter_mut().enumerate() {
            umem.bytes_mut(frame).fill(number as u8);
        }
        for (number, frame) in frames.iter().enumerate() {
            assert_eq!(umem.bytes(frame), [number as u8; 2048]);
        }
        let (last, offset) = umem.frame_at(3 * 2048 + 256).expect("it is inside");
        assert_eq!((&last, offset), (&frames[3], 256));
        assert_eq!(umem.frame_at(4 * 2048), None);
        assert_eq!(umem.address(&Packet { frame: last, offset: 256, length: 60, more: false }), 3 * 2048 + 256);
    }

    #[test]
    fn whoever_has_shared_memory_cannot_shorten_it() {
        let (umem, _) = Umem::shared(4, FrameSize::Half).expect("8 KiB");
        for length in [0, 4096, 1 << 20] {
            assert_eq!(ftruncate(umem.file().expect("shared"), length), Err(Errno::PERM));
        }
    }

    #[test]
    #[should_panic(expected = "a frame of other memory")]
    fn a_frame_of_other_memory_is_refused() {
        let (_, frames) = Umem::new(1, FrameSize::Half).expect("2 KiB");
        let (other, _) = Umem::new(1, FrameSize::Half).expect("2 KiB");
        other.bytes(&frames[0]);
    }

    #[test]
    #[should_panic(expected = "a packet beyond its frame")]
    fn a_packet_beyond_its_frame_is_refused() {
        let (umem, mut frames) = Umem::new(1, FrameSize::Half).expect("2 KiB");
        let frame = frames.pop().expect("one");
        umem.address(&Packet { frame, offset: 2000, length: 49, more: false });
    }

    #[test]
    fn memory_without_frames_is_refused() {
        assert!(matches!(Umem::new(0, FrameSize::Page), Err(SocketError::BadOption(_))));
    }
}
