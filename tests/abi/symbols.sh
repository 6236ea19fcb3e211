#!/bin/bash
# symbols.sh PLUGIN_DIR SANITIZERS - each built-in plugin exports its entry point and nothing else,
# and needs nothing but libc, libm, zlib and OpenBLAS, and of libc nothing that touches the whole
# process.
set -u
dir=$1
if [ -n "${2:-}" ]; then
    echo "sanitizers add symbols of their own: skipped"
    exit 77
fi
status=0
plugins=0

complain() {
    echo "$1"
    status=1
}

# What a plugin must not do behind the program's back: output, signals, processes, threads, locale,
# environment, working directory, generators with hidden state, BLAS threads.
forbidden='printf|vprintf|puts|putchar|__printf_chk|__vprintf_chk|stdout|stderr|exit|_exit|abort'
forbidden+='|quick_exit|atexit|signal|sigaction|sigprocmask|raise|kill|fork|vfork|system|popen'
forbidden+='|execve|execvp|posix_spawn|pthread_create|setlocale|uselocale|setenv|putenv|unsetenv'
forbidden+='|chdir|fchdir|umask|rand|srand|rand_r|random|srandom|drand48|lrand48|arc4random'
forbidden+='|getrandom|fesetround|fesetenv|feenableexcept|fedisableexcept|longjmp|__longjmp_chk'
forbidden+='|openblas_set_num_threads|goto_set_num_threads|dlopen'

known='@GLIBC_|@ZLIB_|^U (cblas_|openblas_|gz|inflate|crc32|adler32|zlib)'

for plugin in "$dir"/*/*.so; do
    [ -e "$plugin" ] || continue
    plugins=$((plugins + 1))
    name=${plugin#"$dir"/}

    exported=$(nm -D --defined-only "$plugin" | awk '{print $3}' | tr '\n' ' ')
    [ "$exported" = "osafl_plugin_entry_v0 " ] || complain "$name exports: $exported"
    case $name in transport/*) continue ;; esac # may do the rest, and links what carries bytes

    for library in $(readelf -d "$plugin" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'); do
        case $library in
        libc.so.6 | libm.so.6 | libz.so.1 | libopenblas.so.0 | ld-linux*) ;;
        *) complain "$name needs the library $library" ;;
        esac
    done

    # "U name@VERSION", the version telling the library where it has one; "w": may stay undefined.
    needed=$(nm -D --undefined-only "$plugin" | awk '{print $1, $2}')
    foreign=$(grep -v '^w' <<< "$needed" | grep -vE "$known" | tr '\n' ' ')
    [ -z "$foreign" ] || complain "$name needs foreign symbols: $foreign"
    misused=$(sed -E 's/^. //; s/@.*//' <<< "$needed" | grep -xE "$forbidden" | tr '\n' ' ')
    [ -z "$misused" ] || complain "$name uses what belongs to the whole program: $misused"
done

if [ $plugins -eq 0 ]; then
    complain "there is no plugin in $dir"
fi
echo "$plugins plugins"
exit $status
