package taskflow

import (
	"dray/internal/events"
	"dray/internal/lastmile"
)

// FollowList subscribes to the list of the worker who is asking. The subscription
// must be closed.
func (f *Flow) FollowList(who lastmile.Principal) *events.Subscription {
	return f.Hub.Subscribe(events.ListTopic(who.Worker))
}
