package lastmile

import (
	"crypto/sha256"
	"math/big"
	"time"
)

// ContainerKind is what a container belongs to.
type ContainerKind string

// The kinds of containers.
const (
	InOrganization ContainerKind = "ORGANIZATION"
	InTeam         ContainerKind = "TEAM"
	InWorker       ContainerKind = "WORKER"
)

// ContainerRef names a container by whose it is. Every organization, team and
// worker has exactly one.
type ContainerRef struct {
	Kind  ContainerKind
	Owner string // id of the organization, team or worker
}

// OrganizationContainer is the container of tasks that nobody has yet.
func OrganizationContainer(id OrganizationID) ContainerRef {
	return ContainerRef{Kind: InOrganization, Owner: string(id)}
}

// TeamContainer is what somebody of a team has to do.
func TeamContainer(id TeamID) ContainerRef {
	return ContainerRef{Kind: InTeam, Owner: string(id)}
}

// WorkerContainer is what a worker has to do.
func WorkerContainer(id WorkerID) ContainerRef {
	return ContainerRef{Kind: InWorker, Owner: string(id)}
}

// Container is an ordered list of tasks. A task that is not completed is in
// exactly one; an active one belongs to its worker but is not in the list.
type Container struct {
	ContainerRef
	Organization      OrganizationID
	Created, Modified time.Time
	Version           int64 // grows with each change
	ActiveTask        TaskID
	Tasks             []TaskID
}

// ID is the container's own id, which follows from whose it is.
func (c ContainerRef) ID() string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte("container " + string(c.Kind) + " " + c.Owner))
	n, base, digit := new(big.Int).SetBytes(sum[:]), big.NewInt(int64(len(digits))), new(big.Int)
	id := make([]byte, IDLength)
	for i := range id {
		n.DivMod(n, base, digit)
		id[i] = digits[digit.Int64()]
	}
	return string(id)
}

// Places to put tasks in a container.
const (
	AtEnd   = -1
	AtStart = 0
)

// ContainerChange is what an update does to a container: put tasks at an
// index, or make them the whole list.
type ContainerChange struct {
	Tasks                []TaskID
	Index                int  // AtEnd, AtStart or a position; later tasks shift
	Replace              bool // the whole list; workers only
	ConsiderDependencies bool // move the whole families of the tasks
}

// Check refuses a change that cannot be made to a container of the kind.
func (c ContainerChange) Check(kind ContainerKind) error {
	switch {
	case c.Replace && kind != InWorker:
		return Invalid("tasks must begin with a position (-1 to append, 0 to prepend, n to insert at n): only a worker's tasks can be replaced as a whole")
	case !c.Replace && c.Index < AtEnd:
		return Invalid("the position at the start of tasks must be -1 or more, not %d", c.Index)
	case len(unique(c.Tasks)) != len(c.Tasks):
		return Invalid("tasks must not name a task twice")
	}
	return nil
}
