package lastmile

import (
	"crypto/sha256"
	"math/big"
	"time"
)

// ContainerKind is the kind of a container, which is the kind of its owner.
type ContainerKind string

// The kinds of containers.
const (
	InOrganization ContainerKind = "ORGANIZATION"
	InTeam         ContainerKind = "TEAM"
	InWorker       ContainerKind = "WORKER"
)

// ContainerRef identifies a container by its owner. Every organization, team
// and worker has exactly one.
type ContainerRef struct {
	Kind  ContainerKind
	Owner string // id of the organization, team or worker
}

// OrganizationContainer returns the container of an organization's unassigned tasks.
func OrganizationContainer(id OrganizationID) ContainerRef {
	return ContainerRef{Kind: InOrganization, Owner: string(id)}
}

// TeamContainer returns the container of tasks for any worker of a team.
func TeamContainer(id TeamID) ContainerRef {
	return ContainerRef{Kind: InTeam, Owner: string(id)}
}

// WorkerContainer returns the container of the tasks assigned to a worker.
func WorkerContainer(id WorkerID) ContainerRef {
	return ContainerRef{Kind: InWorker, Owner: string(id)}
}

// Container is an ordered list of tasks. A task that is not completed is in
// exactly one container. An active task belongs to its worker's container but
// is not in the list.
type Container struct {
	ContainerRef
	Organization      OrganizationID
	Created, Modified time.Time
	Version           int64 // incremented by every change
	ActiveTask        TaskID
	Tasks             []TaskID
}

// Route returns the active task, if there is one, and the list.
func (c *Container) Route() []TaskID {
	if c.ActiveTask == "" {
		return c.Tasks
	}
	return append([]TaskID{c.ActiveTask}, c.Tasks...)
}

// ID returns the id of the container, which is derived from its owner.
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

// Positions at which tasks are inserted into a container.
const (
	AtEnd   = -1
	AtStart = 0
)

// ContainerChange is an update of a container: it inserts tasks at an index or
// replaces the whole list.
type ContainerChange struct {
	Tasks                []TaskID
	Index                int  // AtEnd, AtStart or an index; later tasks shift
	Replace              bool // replace the whole list; workers only
	ConsiderDependencies bool // also move tasks that are connected to Tasks by dependencies
}

// Check rejects a change that containers of the kind do not support.
func (c ContainerChange) Check(kind ContainerKind) error {
	switch {
	case c.Replace && kind != InWorker:
		return Invalid("tasks must begin with a position (-1 to append, 0 to prepend, n to insert at n): only a worker's tasks can be replaced as a whole")
	case !c.Replace && c.Index < AtEnd:
		return Invalid("the position at the start of tasks must be -1 or more, not %d", c.Index)
	case len(Unique(c.Tasks)) != len(c.Tasks):
		return Invalid("tasks must not name a task twice")
	}
	return nil
}
