package store

import (
	"time"

	"dray/internal/lastmile"
)

// Viewer is the caller for whom tasks and workers are read.
type Viewer struct {
	Organization lastmile.OrganizationID
	Manager      lastmile.AdminID // if not empty, only what this manager of some teams may see
}

// ViewerOf returns the caller of a request as a viewer.
func ViewerOf(who lastmile.Principal) Viewer { return Viewer{who.Organization, who.Manager()} }

// RecipientFilter selects recipients. Without a name and phones, it selects all.
type RecipientFilter struct {
	Name   string // compared without letter case
	Phone  lastmile.Phone
	Phones []lastmile.Phone        // with any of these
	Keeper lastmile.OrganizationID // applies if a name or phone is given; empty for the organization itself
	Limit  int                     // 0 means no limit
}

// Members are the teams, workers and administrators that a request names.
type Members struct {
	Teams   []lastmile.TeamID
	Workers []lastmile.WorkerID
	Admins  []lastmile.AdminID
}

// AdminFilter selects administrators.
type AdminFilter struct {
	Metadata lastmile.Metadata // must have all of these entries
}

// WorkerFilter selects workers; zero fields select all.
type WorkerFilter struct {
	Teams    []lastmile.TeamID // in any of these
	Phones   []lastmile.Phone  // with any of these
	OnDuty   bool              // on duty
	Located  bool              // with a known location
	Metadata lastmile.Metadata // must have all of these entries
	Manager  lastmile.AdminID  // only what this administrator may see, who manages some teams
	NoTasks  bool              // do not read their tasks
}

// TeamFilter selects teams; zero fields select all.
type TeamFilter struct {
	Name     string
	Metadata lastmile.Metadata // must have all of these entries
	Manager  lastmile.AdminID  // only what this administrator may see, who manages some teams
	NoTasks  bool              // do not read their tasks
}

// TaskFilter selects tasks; zero fields select all.
type TaskFilter struct {
	From, To       time.Time // by completion for completed tasks, by creation for others
	States         []lastmile.TaskState
	Worker         lastmile.WorkerID
	Containers     []string // ids of organizations, teams or workers
	Dependencies   []lastmile.TaskID
	CompleteBefore time.Time // completeBefore at or before this
	CompleteAfter  time.Time // completeAfter at or after this
	Pickup         *bool
	Unfinished     bool              // only tasks that are not completed
	Metadata       lastmile.Metadata // must have all of these entries
	Manager        lastmile.AdminID  // only what this administrator may see, who manages some teams
	After          lastmile.TaskID   // created after this one
	Limit          int               // 0 means no limit
}

// RoutePlanFilter selects route plans; zero fields select all.
type RoutePlanFilter struct {
	Worker                 lastmile.WorkerID
	StartFrom, StartTo     time.Time // from the first, before the second
	CreatedFrom, CreatedTo time.Time // from the first, before the second
	HasTasks               *bool
	Manager                lastmile.AdminID     // only what this administrator may see, who manages some teams
	After                  lastmile.RoutePlanID // created after this one
	Limit                  int                  // 0 means no limit
}

// NotificationFilter selects notifications; zero fields select all.
type NotificationFilter struct {
	Webhook lastmile.WebhookID
	Before  string // an id: only older notifications
	Since   time.Time
	Until   time.Time // only those due before it
	State   *lastmile.NotificationState
	Limit   int
}

// TaskNotification is a notification of an event of a task.
type TaskNotification struct {
	lastmile.Notification
	WebhookName string
	Last        lastmile.Attempt // the last attempt; zero if there was none
}

// NotificationCursor is a position in the order of a webhook's due
// notifications; the zero value precedes all.
type NotificationCursor struct {
	Next time.Time
	ID   string
}
