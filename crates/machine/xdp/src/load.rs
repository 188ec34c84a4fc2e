//! Loads programs and reads their data.

use std::{
    io, mem,
    os::fd::{AsFd, BorrowedFd},
    slice,
};

use aya::{
    Ebpf, EbpfLoader, Pod,
    maps::{Array, Map, MapData, PerCpuArray},
    programs::Xdp,
};

use crate::{Error, Result, calls};

/// A loaded XDP program and its maps.
pub(crate) struct Loaded {
    name: &'static str,
    ebpf: Ebpf,
}

impl Loaded {
    /// Loads the program `name` of an object.
    pub(crate) fn new(name: &'static str, loader: &mut EbpfLoader<'_>, object: &[u8]) -> Result<Self> {
        let ebpf = loader.load(object).map_err(|error| failed(name, &error))?;
        let mut loaded = Self { name, ebpf };
        loaded.xdp()?.load().map_err(|error| failed(name, &error))?;
        Ok(loaded)
    }

    fn xdp(&mut self) -> Result<&mut Xdp> {
        let program = self.ebpf.program_mut(self.name).and_then(|program| program.try_into().ok());
        program.ok_or_else(|| self::missing(self.name, "program"))
    }

    /// Calls `call` with the program's descriptor.
    pub(crate) fn with_program<T>(&self, call: impl FnOnce(BorrowedFd<'_>) -> T) -> Result<T> {
        let program = self.ebpf.program(self.name).and_then(|program| program.fd().ok());
        Ok(call(program.ok_or_else(|| missing(self.name, "program"))?.as_fd()))
    }

    pub(crate) fn map(&mut self, name: &'static str) -> Result<&mut Map> {
        self.ebpf.map_mut(name).ok_or_else(|| missing(self.name, name))
    }

    /// Current contents of a data section.
    pub(crate) fn values<T: Pod, const N: usize>(&self, section: &'static str) -> Result<Box<[T; N]>> {
        // SAFETY: zeros are a valid `T` (Pod).
        let mut values: Box<[T; N]> = unsafe { Box::new_zeroed().assume_init() };
        // SAFETY: any bytes are a valid `T` (Pod), and the slice covers all of them.
        let bytes = unsafe { slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of::<[T; N]>()) };
        calls::read(self.array(section)?.fd().as_fd(), bytes)
            .map_err(|io| self.call("bpf(BPF_MAP_LOOKUP_ELEM)", section, io))?;
        Ok(values)
    }

    /// Writes a data section.
    pub(crate) fn set_values<T: Pod>(&self, section: &'static str, values: &[T]) -> Result<()> {
        // SAFETY: the slice covers all values, which have no uninitialised padding.
        let bytes = unsafe { slice::from_raw_parts(values.as_ptr().cast::<u8>(), mem::size_of_val(values)) };
        calls::write(self.array(section)?.fd().as_fd(), bytes)
            .map_err(|io| self.call("bpf(BPF_MAP_UPDATE_ELEM)", section, io))
    }

    /// Writes an array map from its beginning.
    pub(crate) fn set_each<T: Pod>(&mut self, map: &'static str, values: &[T]) -> Result<()> {
        let name = self.name;
        let mut array = Array::<_, T>::try_from(self.map(map)?).map_err(|error| failed(name, &error))?;
        let set = |(index, value)| array.set(index, value, 0).map_err(|error| failed(name, &error));
        (0..).zip(values).try_for_each(set)
    }

    /// Values of each CPU under one key.
    pub(crate) fn of_cpus<T: Pod>(&self, map: &'static str, key: u32) -> Result<Vec<T>> {
        let there = self.ebpf.map(map).ok_or_else(|| missing(self.name, map))?;
        let array = PerCpuArray::<_, T>::try_from(there).map_err(|error| failed(self.name, &error))?;
        Ok(array.get(&key, 0).map_err(|error| failed(self.name, &error))?.iter().copied().collect())
    }

    /// An array map, or the data section that is one.
    pub(crate) fn array(&self, section: &'static str) -> Result<&MapData> {
        match self.ebpf.map(section) {
            Some(Map::Array(data)) => Ok(data),
            _ => Err(missing(self.name, section)),
        }
    }

    /// Descriptor of a map with values for each CPU.
    pub(crate) fn descriptor(&self, map: &'static str) -> Result<BorrowedFd<'_>> {
        match self.ebpf.map(map) {
            Some(Map::PerCpuArray(data)) => Ok(data.fd().as_fd()),
            _ => Err(missing(self.name, map)),
        }
    }

    fn call(&self, call: &'static str, section: &str, io: io::Error) -> Error {
        Error::Call { call, what: format!("{section} of the BPF program {}", self.name), io }
    }
}

fn missing(program: &'static str, what: &str) -> Error {
    Error::Load { program, why: format!("it has no {what}: this program was built wrongly") }
}

/// With all causes: aya's errors show only the outermost.
pub(crate) fn failed(program: &'static str, error: &dyn std::error::Error) -> Error {
    let mut why = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        if let Some(io) = deeper.downcast_ref::<io::Error>()
            && io.raw_os_error() == Some(libc::EPERM)
        {
            return Error::Denied("loading them");
        }
        why = format!("{why}: {deeper}");
        cause = deeper.source();
    }
    Error::Load { program, why }
}
