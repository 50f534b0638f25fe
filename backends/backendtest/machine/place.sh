# Makes the root of a machine and becomes its first process. It runs as root of a
# user namespace of its own, with the folder of the machine as $1; what it closes at
# the end tells that the machine is up.
set -e
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount --rbind /usr usr
mount -o remount,bind,ro usr
for name in etc/alternatives etc/ssl; do
	[ ! -e /$name ] || mount --bind -o ro /$name $name
done
mount -t proc proc proc
mount -t tmpfs -o mode=0755 dev dev
for name in null zero full random urandom tty; do
	: >dev/$name
	mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
hostname machine
ip link set lo up
pivot_root . .outside
cd /
umount -l .outside
rmdir .outside
# A shell reaps whatever is left to it. This one ends, and the machine with it, when
# nobody holds the other end of its input any more.
exec >/dev/null 2>&1 3>&-
read -r _
