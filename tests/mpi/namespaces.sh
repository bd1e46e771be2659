#!/bin/sh
# Two machines on one: runs a command on two processes, each in a network namespace and with a host
# name of its own, which reach each other by TCP over a virtual cable only.
#
#     namespaces.sh [--rate RATE] COMMAND...
#
# RATE limits the cable, such as 1gbit. Exits with 77 (skipped) where namespaces cannot be made.
set -eu

rate=
if [ "$1" = --rate ]; then
    rate=$2
    shift 2
fi
name=huddle$$
scratch=$(mktemp -d)

clean_up() {
    ip netns del "${name}a" 2>/dev/null || true
    ip netns del "${name}b" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# In a chroot a namespace can be made, but not entered.
if ! { ip netns add "${name}a" && ip netns exec "${name}a" true; } 2>"$scratch/why"; then
    echo "skipped: $(cat "$scratch/why")" >&2
    exit 77
fi
ip netns add "${name}b"
ip link add "h$$a" type veth peer name "h$$b"
for side in a b; do
    ip link set "h$$$side" netns "$name$side"
    ip -n "$name$side" link set lo up
    ip -n "$name$side" link set "h$$$side" up
done
ip -n "${name}a" address add 10.77.0.1/24 dev "h$$a"
ip -n "${name}b" address add 10.77.0.2/24 dev "h$$b"
if [ -n "$rate" ]; then
    for side in a b; do
        tc -n "$name$side" qdisc add dev "h$$$side" root tbf rate "$rate" burst 256kb latency 50ms
    done
fi

# mpirun starts its agent on the other machine by this instead of ssh: the first argument is the
# address, the rest the command for its shell.
cat >"$scratch/agent" <<AGENT
#!/bin/sh
case \$1 in
10.77.0.1) side=a ;;
10.77.0.2) side=b ;;
*) echo "no machine \$1" >&2; exit 1 ;;
esac
shift
exec ip netns exec $name\$side unshare --uts sh -c "hostname node\$side; \$*"
AGENT
chmod +x "$scratch/agent"

ip netns exec "${name}a" unshare --uts sh -c 'hostname nodea; exec "$@"' sh \
    mpirun --allow-run-as-root -n 2 --host 10.77.0.1:1,10.77.0.2:1 --bind-to none \
    --mca plm_rsh_agent "$scratch/agent" --mca btl tcp,self --mca pml ob1 \
    --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@"
