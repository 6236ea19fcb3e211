//! take_turns.rs - a selection in Rust: even and odd clients are asked by turns.
//!
//! osafl.rs holds all structs and constants of osafl/osafl.h, as bindgen writes them.
#![no_std]
#![allow(non_camel_case_types, non_upper_case_globals, dead_code)]

use core::mem::{size_of, transmute};

/// The types of C that osafl.rs names.
mod c {
    pub use core::ffi::c_void;
    pub type c_char = u8;
    pub type c_int = i32;
    pub type c_uint = u32;
}

include!("osafl.rs");

/// Nothing writes to what is static here, nor to what its pointers lead to.
#[repr(transparent)]
pub struct Constant<T>(T);
unsafe impl<T> Sync for Constant<T> {}

/// asked[u] is 0 already.
unsafe extern "C" fn choose(
    _self: *mut c::c_void,
    _call: *mut osafl_call,
    problem: *const osafl_selection_problem,
    asked: *mut u8,
) -> osafl_status {
    let p = &*problem;
    for u in 0..p.clients as usize {
        let turn = u % 2 == p.round as usize % 2;
        *asked.add(u) = (*p.present.add(u) == 1 && turn) as u8;
    }
    OSAFL_OK
}

// Zero bytes are the documented default of every member.
const NO_LIFE: osafl_lifecycle = unsafe { transmute([0u8; size_of::<osafl_lifecycle>()]) };
const NO_PLUGIN: osafl_plugin = unsafe { transmute([0u8; size_of::<osafl_plugin>()]) };

static VTABLE: Constant<osafl_selection_vt> = Constant(osafl_selection_vt {
    life: osafl_lifecycle {
        struct_size: size_of::<osafl_selection_vt>() as u32,
        ..NO_LIFE
    },
    choose: Some(choose),
    describe: None,
});

static PLUGIN: Constant<osafl_plugin> = Constant(osafl_plugin {
    struct_size: size_of::<osafl_plugin>() as u32,
    abi_major: OSAFL_ABI_MAJOR as u16,
    abi_minor: OSAFL_ABI_MINOR as u16,
    kind: OSAFL_KIND_SELECTION,
    fingerprint: b"pointer 8, float 4, order 1234\0".as_ptr(), // x86-64 and AArch64
    name: b"take_turns\0".as_ptr(),
    version: b"1.0.0\0".as_ptr(),
    summary: b"Asks even and odd clients by turns\0".as_ptr(),
    license: b"MIT\0".as_ptr(),
    vtable: &VTABLE.0.life,
    ..NO_PLUGIN
});

#[no_mangle]
pub extern "C" fn osafl_plugin_entry_v0() -> *const osafl_plugin {
    &PLUGIN.0
}

/// A panic must not leave the plugin (R8), and a plugin must not end the process (R9): code that
/// could panic has no place here.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
