package recipientapi

import (
	"dray/internal/lastmile"
	"dray/internal/rate"
)

// followerSlots limits the number of clients that follow tasks at the same time.
type followerSlots struct{ all, links, networks, organizations rate.Slots }

func newFollowerSlots() *followerSlots {
	return &followerSlots{
		all: rate.Slots{Most: maxFollowers}, links: rate.Slots{Most: maxFollowersOfTask},
		networks: rate.Slots{Most: maxFollowersOfNetwork}, organizations: rate.Slots{Most: maxFollowersOfOrganization},
	}
}

// everyone is the key of all followers together.
const everyone = "all"

// enter takes a slot for a follower of a link from a network, which is empty when it
// is unknown. After it has returned nil, leave must be called.
func (f *followerSlots) enter(link, network string) error {
	if f.links.Acquire(link) != nil {
		return tooManyFollow("this task")
	}
	if f.networks.Acquire(network) != nil {
		f.links.Release(link)
		return tooManyFollow("tasks from this network")
	}
	if f.all.Acquire(everyone) != nil {
		f.networks.Release(network)
		f.links.Release(link)
		return lastmile.Overloaded("too many follow tasks just now: ask for the state instead")
	}
	return nil
}

// leave releases the slot of a follower.
func (f *followerSlots) leave(link, network string) {
	f.all.Release(everyone)
	f.networks.Release(network)
	f.links.Release(link)
}

func tooManyFollow(what string) error {
	return lastmile.TooMany().Because("too many follow %s: ask for the state instead", what)
}
