package wire

// Names are looked up inside at a resolver of the runner's, and stand for addresses of loopback
// of their own: 127.128.0.0 and a number of 22 bits.
const (
	addressBits = 1<<22 - 1
	// ResolverNumber is that of the resolver's address, and Resolver the address.
	ResolverNumber = 53
	Resolver       = "127.128.0.53"
)

// MaxQuery bounds a query of DNS, and MaxAsked how many of a sandbox may not have been answered.
const (
	MaxQuery = 1024
	MaxAsked = 64
)

// Address is the address of loopback that has a number.
func Address(number uint32) [4]byte {
	return [4]byte{127, 0x80 | byte(number>>16)&0x3f, byte(number >> 8), byte(number)}
}

// AddressNumber is the number of an address; stands is false for one that stands for no name, whose number is the label of a command.
func AddressNumber(address [4]byte) (number uint32, stands bool) {
	number = (uint32(address[1])<<16 | uint32(address[2])<<8 | uint32(address[3])) & addressBits
	return number, Address(number) == address
}

// Query is one of DNS, as it came, with the label of the command whose it is, 0 where that is not known.
type Query struct {
	Label uint32
	Text  string
}

// Arrival says where a connection came to: the outlet, or, where Port is not zero, that port of the
// address of loopback with a number. Label is that of the command, 0 where it is not known.
type Arrival struct {
	Label, Number uint32
	Port          int
}

// Name answers a query. Programs are to reach the ports of the address with the number before
// they read the answer, and read Failure in its place where they cannot. Nothing is to be said
// where that is empty.
type Name struct {
	Number          uint32
	Ports           []int
	Answer, Failure string
}

func (q *Query) parts(c *codec) {
	number(c, &q.Label)
	c.text(&q.Text)
}

func (a *Arrival) parts(c *codec) {
	number(c, &a.Label)
	number(c, &a.Number)
	number(c, &a.Port)
}

func (n *Name) parts(c *codec) {
	number(c, &n.Number)
	list(c, &n.Ports, func(port *int) { number(c, port) })
	c.text(&n.Answer)
	c.text(&n.Failure)
}
