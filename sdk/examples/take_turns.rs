//! take_turns.rs - a selection in Rust: even and odd clients are asked by turns.
//!
//! The structs are those of osafl/plugin.h, osafl/host.h and osafl/selection.h, member by member.
#![no_std]

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr::null;

/// A function of the interface that this plugin leaves out or does not call.
type Unused = Option<unsafe extern "C" fn()>;

/// A string of C: it ends with a zero byte.
type Text = *const u8;

#[repr(C)]
struct Lifecycle {
    struct_size: u32,
    state_version: u32,
    check: Unused,
    create: Unused,
    destroy: Unused,
    save: Unused,
    load: Unused,
    extension: Unused,
}

#[repr(C)]
pub struct SelectionProblem {
    struct_size: u32,
    clients: u32,
    round: u32,
    reserved: u32,
    present: *const u8,
    gain: *const f64,
    samples: *const u64,
    energy_budget_j: *const f64,
    history: *const c_void,
}

type Choose =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *const SelectionProblem, *mut u8) -> i32;

#[repr(C)]
struct Selection {
    life: Lifecycle,
    choose: Choose,
    describe: Unused,
}

#[repr(C)]
pub struct Plugin {
    struct_size: u32,
    abi_major: u16,
    abi_minor: u16,
    abi_minor_needed: u16,
    reserved: u16,
    kind: u32,
    fingerprint: Text,
    name: Text,
    version: Text,
    summary: Text,
    cite: Text,
    license: Text,
    url: Text,
    features: *const Text,
    params: *const c_void,
    metrics: *const c_void,
    n_params: u32,
    param_size: u32,
    n_metrics: u32,
    metric_size: u32,
    config_size: u32,
    reserved2: u32,
    vtable: *const Selection,
}

// Nothing writes to what the pointers lead to.
unsafe impl Sync for Plugin {}

const OSAFL_OK: i32 = 0;
const OSAFL_KIND_SELECTION: u32 = 12;

/// asked[u] is 0 already.
unsafe extern "C" fn choose(
    _self: *mut c_void,
    _call: *mut c_void,
    problem: *const SelectionProblem,
    asked: *mut u8,
) -> i32 {
    let p = &*problem;
    for u in 0..p.clients as usize {
        let turn = u % 2 == p.round as usize % 2;
        *asked.add(u) = (*p.present.add(u) == 1 && turn) as u8;
    }
    OSAFL_OK
}

static VTABLE: Selection = Selection {
    life: Lifecycle {
        struct_size: size_of::<Selection>() as u32,
        state_version: 0,
        check: None,
        create: None,
        destroy: None,
        save: None,
        load: None,
        extension: None,
    },
    choose,
    describe: None,
};

static PLUGIN: Plugin = Plugin {
    struct_size: size_of::<Plugin>() as u32,
    abi_major: 0,
    abi_minor: 2,
    abi_minor_needed: 0,
    reserved: 0,
    kind: OSAFL_KIND_SELECTION,
    fingerprint: b"pointer 8, float 4, order 1234\0".as_ptr(), // x86-64 and AArch64
    name: b"take_turns\0".as_ptr(),
    version: b"1.0.0\0".as_ptr(),
    summary: b"Asks even and odd clients by turns\0".as_ptr(),
    cite: null(),
    license: b"MIT\0".as_ptr(),
    url: null(),
    features: null(),
    params: null(),
    metrics: null(),
    n_params: 0,
    param_size: 0,
    n_metrics: 0,
    metric_size: 0,
    config_size: 0,
    reserved2: 0,
    vtable: &VTABLE,
};

#[no_mangle]
pub extern "C" fn osafl_plugin_entry_v0() -> *const Plugin {
    &PLUGIN
}

/// A panic must not leave the plugin (R8), and a plugin must not end the process (R9): code that
/// could panic has no place here.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
