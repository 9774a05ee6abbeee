# SPDX-License-Identifier: BSD-2-Clause
"""The jobs of the harm test: real programs that do the same in every run.

A job is a line of sh that runs in a folder of its own with the files of make_files(). It
takes about a fifth of a second of CPU time and ends what it started by id. Its whole output
is compared, or only what matches the pattern `keep`.
"""
import collections
import glob
import pathlib
import random
import shutil

# disk: where the recording goes has no room ("full") or may not be written to ("read-only"). attach: the
# job is begun without a recorder, which joins it (-p).
Program = collections.namedtuple("Program", "name needs job keep unprivileged disk attach")

PYTHON = """
import json, re, threading, zlib, subprocess, signal
def work(out, n):
    text = open("words.txt").read()
    out[n] = (len(re.findall(r"a\\w+e", text)), zlib.crc32(text.encode()), len(json.dumps(text.split())))
out = {}
threads = [threading.Thread(target=work, args=(out, n)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
for n in range(3):
    print(subprocess.run(["sh", "-c", "echo child; exit 3"], capture_output=True))
print(sorted(out.items()), signal.getsignal(signal.SIGPROF), signal.getsignal(signal.SIGSEGV))
"""
NODE = """
const crypto = require("crypto"), zlib = require("zlib"), fs = require("fs");
const text = fs.readFileSync("words.txt");
let sum = 0;
for (let i = 0; i < 3e6; i++) sum = (sum * 31 + i) | 0;
zlib.gzip(text, (e, z) => {
    console.log(zlib.gunzipSync(z).length, sum);
    crypto.pbkdf2("a", "b", 20000, 32, "sha256", (e, k) => console.log(k.toString("hex")));
});
setTimeout(() => process.exitCode = 5, 30);
"""
JAVA = """
import java.util.*;
public class Job {
    static int f(Object o) { try { return o.hashCode(); } catch (NullPointerException e) { return 1; } }
    public static void main(String[] a) throws Exception {
        Map<Integer, String> m = new TreeMap<>();
        for (int i = 0; i < 100000; i++) m.put(i * 7919 % 100003, "v" + i);
        int n = 0;
        for (int i = 0; i < 20000; i++) n += f(i % 2 == 0 ? null : "x");
        Thread[] t = new Thread[4];
        for (int i = 0; i < 4; i++) { t[i] = new Thread(() -> m.hashCode()); t[i].start(); }
        for (Thread x : t) x.join();
        System.out.println(m.size() + " " + n);
        System.exit(7);
    }
}
"""
PERL = r"""
my %n; open(F, "words.txt"); while (<F>) { $n{$_}++ for /\w+/g } $SIG{ALRM} = sub { $alarms++ }; alarm(1);
for my $i (1..40000) { $x = join(",", map { $_ * $i } 1..10) } print scalar(keys %n), " $x\n"; sleep 5 unless $alarms; print "alarms $alarms\n", `echo child`; exit 4;
"""
RUBY = r"""
t = (1..4).map { |k| Thread.new { (1..60000).map { |i| (i * k).to_s }.join.sum } }
puts t.map(&:value).inspect, `echo child`, File.read("words.txt").scan(/a\w+e/).size; exit 6
"""
PHP = r"""
$t = file_get_contents("words.txt"); $n = [];
foreach (preg_split("/\s+/", $t) as $w) $n[$w] = ($n[$w] ?? 0) + 1;
for ($i = 0; $i < 300; $i++) $h = md5($t . $i); echo count($n), " $h\n"; exit(2);
"""
LUA = """
local n, s = 0, {} for w in io.open("words.txt"):read("a"):gmatch("%w+") do s[w] = (s[w] or 0) + 1 end
for i = 1, 2500000 do n = (n * 31 + i) % 1000003 end for _ in pairs(s) do n = n + 1 end
local t = {} for i = 1, 20000 do t[i % 100] = {i} end print(n) os.exit(9)
"""
SQL = """
create table t(a integer primary key, b text); with recursive c(x) as (select 1 union all select x + 1
from c where x < 60000) insert into t select x, 'v' || (x * 7919 % 10007) from c; create index i on t(b);
select count(*), sum(length(b)), max(b) from t; select b, count(*) from t group by b order by 2 desc, 1 limit 3;
select * from missing;
"""
REDIS = """
redis-server --port 0 --unixsocket ./s --save '' --io-threads 2 --logfile log & p=$!
until redis-cli -s ./s ping >/dev/null 2>&1 || [ $((n += 1)) -gt 400 ]; do sleep 0.05; done
redis-benchmark -s ./s -n 5000 -r 100 -t set,get,lpush -q >/dev/null
redis-cli -s ./s llen mylist; kill $p; wait $p
"""
NGINX = """
mkdir -p n/logs; cp words.txt n/; printf 'daemon off; worker_processes 2; pid n.pid; error_log stderr crit;
events {} http { access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
uwsgi_temp_path u; scgi_temp_path s; server { listen 127.0.0.1:%d; root .; gzip on; gzip_types *; } }' "$PORT" >n/c
nginx -p "$PWD/n" -c c & p=$!
until [ -s n/n.pid ] || [ $((n += 1)) -gt 400 ]; do sleep 0.05; done
wrk -t1 -c4 -d1 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$PORT/words.txt" | grep -c -E 'Socket errors|Non-2xx'
kill -QUIT $p; wait $p
"""
POSTGRES = """
export PATH="$PATH:$POSTGRES_BIN"; initdb -D d -A trust -U u --no-sync >/dev/null || exit
postgres -D d -k "$PWD" -h '' -F >log 2>&1 & p=$!
until psql -h "$PWD" -U u -c 'select 1' postgres >/dev/null 2>&1 || [ $((n += 1)) -gt 200 ]; do sleep 0.05; done
pgbench -h "$PWD" -U u -i -q postgres >/dev/null 2>&1
pgbench -h "$PWD" -U u -c 4 -j 2 -t 50 postgres 2>&1 | grep -E 'actually|failed'
psql -h "$PWD" -U u -At -c 'select count(*), sum(g % 7) from generate_series(1, 50000) g, generate_series(1, 3)' postgres
kill -INT $p; wait $p
"""
MAKEFILE = "all: %s\n\t@cat $^ | cksum\n%%.o: ; @sh -c 'x=0; while [ $$x -lt 300 ]; do x=$$((x+1)); done; expr $* + 1' >$@\n"
FORKS = """x=0; while [ $x -lt 120 ]; do x=$((x+1)); y=$(expr $x \\* 3 | sed s/3/4/); (exit 3) || z="$z$?$y"; done; echo $z"""


def program(name, job, needs=None, keep=None, unprivileged=False, disk=None, attach=False):
    return Program(name, [needs or name] if "/" in (needs or "") else (needs or name).split(), job, keep,
                   unprivileged, disk, attach)


def on_stacks(workloads):
    """Fibers, and allocator calls that are left by exceptions and long jumps."""
    fibers, part, host = (f"'{workloads}/{name}'" for name in ("fibers", "fibers_part.so", "host"))
    needs = f"{workloads}/fibers"
    ways = "for w in bad handler thrown jumped pool turns; do %s $w %s 32 30; %s $w %s 256 10; done"
    return [
        program("fibers by context", ways % (fibers, "context", fibers, "context"), needs),
        program("fibers by hand", ways % (fibers, "hand", fibers, "hand"), needs),
        program("fibers of a part", f"for w in bad handler turns; do for s in context hand none; do"
                                    f" {host} {part} fibers $w $s 256 20; done; done", needs),
        program("left in threads", f"for w in bad handler thrown jumped pool; do {fibers} $w none 256 10; done", needs),
        program("left by signals", f"'{workloads}/leaps' 2000 2>&1 | sort | uniq -c", f"{workloads}/leaps"),
    ]


def in_want(workloads):
    """Programs that have used up their limits, and recorders that have nowhere to write."""
    scarce, churn = f"{workloads}/scarce", f"{workloads}/churn"
    busy = f"'{churn}' 300; echo $?; (exit 9)"
    long = f"exec '{churn}' 1500"
    return [
        program("no descriptors", f"'{scarce}' files 200; ulimit -n 12; '{scarce}' addresses 1; '{churn}' 100", scarce),
        program("no addresses", f"'{scarce}' addresses 200; ulimit -v 400000; '{churn}' 100; '{scarce}' files 20", scarce),
        program("disk full", busy, churn, disk="full"),
        program("disk read-only", busy, churn, disk="read-only"),
        program("attached", long, churn, attach=True),
        program("attached, full", long, churn, disk="full", attach=True),
        program("attached, r/o", long, churn, disk="read-only", attach=True),
    ]


def programs(workloads):
    """All jobs; workloads is where this project's own test programs are."""
    guest, churn = f"{workloads}/guest", f"{workloads}/churn"
    postgres = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return [
        program("sqlite3", "sqlite3 :memory: <sql", keep=None),
        program("python3", "/usr/bin/python3 py"),
        program("node", "node js"),
        program("redis", REDIS, "redis-server redis-benchmark redis-cli"),
        program("git", "rm -rf r; git init -q r && cd r && cp ../src/* . && git add . && git -c user.name=a"
                       " -c user.email=b commit -q -m one && git repack -adfq --threads=2 && git fsck 2>&1 &&"
                       " git grep -c return | cksum; git log --format=%T; git show missing"),
        program("gcc", "gcc -O2 -g0 -o big big.c -Wall && ./big; gcc -c bad.c"),
        program("clang", "$(command -v clang || command -v clang-14) -O2 -c big.c -o big.o && cksum <big.o", "clang-14"),
        program("perl", "perl pl"),
        program("tar+zstd", "tar c --sort=name --mtime=@0 src words.txt | zstd -T2 -9 -q >a.zst && zstd -dc a.zst | cksum;"
                            " tar xf missing.tar", "tar zstd"),
        program("mawk", "mawk '{for(i=1;i<=NF;i++)n[$i]++}END{for(w in n)s+=n[w]*length(w);print s; exit 3}'"
                        " words.txt words.txt words.txt words.txt"),
        program("gawk", "gawk '{for(i=1;i<=NF;i++)n[$i NR%3]++}END{for(w in n)s+=n[w]*length(w);print s; exit 3}'"
                        " words.txt words.txt words.txt"),
        program("nginx+wrk", NGINX, "nginx wrk"),
        program("postgres", POSTGRES, f"{postgres[-1] if postgres else ''}/postgres", unprivileged=True),
        program("java", "java -XX:+UseParallelGC -cp . Job; java -version 2>&1 | head -1", "java javac"),
        program("jq", "jq -c '[.[] | {k: .a, v: (.b | length)}] | group_by(.v) | map(length)' data.json; jq . bad.c"),
        program("ruby", "ruby rb"),
        program("lua", "lua5.4 lua", "lua5.4"),
        program("php", "php -f php"),
        program("openssl", "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072 2>/dev/null | wc -l;"
                           " openssl dgst -sha512 words.txt words.txt; openssl x509 -in bad.c"),
        program("xz", "xz -T2 -6 -k -c words.txt | xz -dc | cksum; xz -d bad.c"),
        program("bzip2", "bzip2 -k -c words.txt | bzip2 -dc | cksum"),
        program("sort", "sort --parallel=2 -S 1M words.txt words.txt words.txt | uniq -c | sort -rn -k1 -k2 | head -5"),
        program("sed+grep", "sed -E 's/(a)(.*)(e)/\\3\\2\\1/g' words.txt | grep -c -E '(ea|ae).*z'; grep x missing", "sed grep"),
        program("make -j2", "rm -f *.o; make -s -j2 -f mk", "make"),
        program("sh forks", FORKS, "sh"),
        program("bash", "for ((i=0;i<60000;i++)); do a=$((a+i*7%13)); done; echo $a; trap 'echo trapped' USR1;"
                        " kill -USR1 $$; wait; kill -SEGV $$", "bash"),
        program("ffmpeg", "ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=25:duration=6 -c:v mpeg4 -threads 2"
                          " -f framecrc -"),
        program("convert", "/usr/bin/convert -size 900x900 plasma:fractal -seed 1 -blur 0x8 -blur 0x9 -format '%w %h' info:; /usr/bin/convert bad.c x.png",
                "/usr/bin/convert", keep="^[0-9 ]+$"),
        program("bc", "echo 'scale=900; 4*a(1)' | bc -l; echo '1/0' | bc"),
        program("EINTR counted", f"{guest} interrupts 600", guest, keep='"interrupted": [0-9]+'),
        program("SIGPROF used", f"{guest} own-timer 250", guest, keep='"others": .*'),
        program("SIGSEGV used", f"{guest} faults 200", guest),
        program("threads born", f"{guest} births 12", guest, keep='born'),
        program("waits for all", f"{guest} waiting 150", guest),
        program("small stacks", f"{guest} narrow 150", guest),
        program("socket times", f"{guest} timeouts 300", guest, keep='"interrupted": [0-9]+'),
        program("malloc of libc", f"{churn} 300", churn),
        program("jemalloc", f"{churn}_jemalloc 300", f"{churn}_jemalloc"),
        program("mimalloc", f"{churn}_mimalloc 300", f"{churn}_mimalloc"),
        program("tcmalloc", f"{churn}_tcmalloc_minimal 300", f"{churn}_tcmalloc_minimal"),
    ] + on_stacks(workloads) + in_want(workloads)


def make_files(folder):
    """Creates the files that jobs read, the same ones every time."""
    chance = random.Random(4711)
    letters = "eeeeaaaiotnshrdlucmfwygpbvkxqjz"
    words = ["".join(chance.choice(letters) for _ in range(chance.randint(2, 9))) for _ in range(3000)]
    lines = [" ".join(chance.choice(words) for _ in range(10)) for _ in range(12000)]
    functions = "".join(
        f"static int f{n}(int a, int b) {{ int s = {n}; for (int i = 0; i < a; i++) s = s * 31 + (b ^ i) % {n + 2};"
        f" if (s > {n}) return s - f{max(n - 1, 0)}(a / 2, s & 7); return s; }}\n" if n else
        "static int f0(int a, int b) { return a + b; }\n" for n in range(150))
    texts = {
        "words.txt": "\n".join(lines) + "\n", "py": PYTHON, "js": NODE, "Job.java": JAVA, "pl": PERL, "rb": RUBY,
        "php": "<?php" + PHP, "lua": LUA, "sql": SQL, "bad.c": "int main( { return 0 }\n",
        "big.c": "#include <stdio.h>\n" + functions + 'int main(void) { printf("%d\\n", f149(40, 3)); return 11; }\n',
        "mk": MAKEFILE % " ".join(f"{n}.o" for n in range(60)),
        "data.json": "[" + ",".join(f'{{"a": {n}, "b": "{words[n % 3000]}"}}' for n in range(30000)) + "]",
    }
    for name, text in texts.items():
        pathlib.Path(folder, name).write_text(text)
    source = pathlib.Path(folder, "src")
    source.mkdir()
    for n in range(150):
        (source / f"file{n}.c").write_text(functions[n * 100:] + "\n".join(lines[n * 10:n * 10 + 10]))


def missing(program_):
    """The programs that a job needs but this machine lacks."""
    needed = [*program_.needs, *(["unshare"] if program_.disk else [])]
    return [name for name in needed if not shutil.which(name)]
