//! Recorded outputs; `recorded/SOURCES.md` says where they were published.

macro_rules! recorded {
    ($($name:ident = $file:literal),* $(,)?) => {
        $(pub(crate) const $name: &str = include_str!(concat!("../recorded/", $file, ".txt"));)*
    };
}

recorded! {
    DMESG_9 = "dmesg-9",
    DMESG_13 = "dmesg-13",
    DMESG_15 = "dmesg-15",
    IFCONFIG_BGE_10 = "ifconfig-bge-10",
    IFCONFIG_CXL_13 = "ifconfig-cxl-13",
    IFCONFIG_IX_11 = "ifconfig-ix-11",
    IFCONFIG_IX_13 = "ifconfig-ix-13",
    IFCONFIG_IX_13_DOWN = "ifconfig-ix-13-down",
    IFCONFIG_IX_15 = "ifconfig-ix-15",
    IFCONFIG_IXL_14 = "ifconfig-ixl-14",
    IFCONFIG_MCE_14 = "ifconfig-mce-14",
    IFCONFIG_RE_12 = "ifconfig-re-12",
    KLDSTAT_12 = "kldstat-12",
    KLDSTAT_13 = "kldstat-13",
    NETSTAT_ID_12 = "netstat-id-12",
    NETSTAT_IDN_16 = "netstat-idn-16",
    NETSTAT_M_13 = "netstat-m-13",
    NETSTAT_M_8 = "netstat-m-8",
    NETSTAT_S_13 = "netstat-s-13",
    PCICONF_BGE_12 = "pciconf-bge-12",
    PCICONF_ICE_13 = "pciconf-ice-13",
    PCICONF_IX_12 = "pciconf-ix-12",
    PCICONF_IX_9 = "pciconf-ix-9",
    PCICONF_IXL_12 = "pciconf-ixl-12",
    PCICONF_MCE_13 = "pciconf-mce-13",
    PCICONF_RE_13 = "pciconf-re-13",
    PCICONF_T5_13 = "pciconf-t5-13",
    PCICONF_T6_13 = "pciconf-t6-13",
    ROUTE_13 = "route-13",
    SYSCTL_14 = "sysctl-14",
    SYSCTL_IX_12 = "sysctl-ix-12",
    SYSCTL_TCP_15 = "sysctl-tcp-15",
    UNAME_10 = "uname-10",
    UNAME_12 = "uname-12",
    VMSTAT_10 = "vmstat-10",
    VMSTAT_12 = "vmstat-12",
    VMSTAT_13 = "vmstat-13",
}
