package app

import (
	"context"

	"dray/internal/access"
	"dray/internal/events"
	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/sms"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

// maxPlaced is the maximum number of open tasks that an organization may place with others,
// so that a client cannot overwhelm its couriers with orders.
const maxPlaced = 50_000

// addTasks sets up the use cases of tasks. Submitting a batch signals batches.
func (a *App) addTasks(newID func() string, batches *events.Wake) {
	db, now := a.Store, a.Now
	base := taskflow.Base{Events: a.Events, Now: now, Ways: a.Maps.ways(a.Config.Speed)}
	creator := taskflow.Creator{
		Base: base, Book: a.Book, NewID: newID, NewShortID: access.RandomShortID,
		NewToken: func() string { return access.RandomSecret(lastmile.IDLength) }, PublicURL: a.Config.URL(), Placed: placedTasks{db}, MaxPlaced: maxPlaced,
	}
	a.Tasks = &taskflow.Tasks{Creator: creator, Store: sqlstore.For[taskflow.TaskReader, taskflow.TaskWriter](db), Documents: db, Tracks: a.Tracking}
	a.Containers = &taskflow.Containers{Base: base, Store: sqlstore.For[taskflow.ContainerReader, taskflow.ContainerWriter](db)}
	a.Batches = &taskflow.Batches{Creator: creator, Store: sqlstore.For[taskflow.BatchReader, taskflow.BatchWriter](db), Wake: batches}
	a.RoutePlans = &taskflow.RoutePlans{
		Base: base, Store: sqlstore.For[taskflow.PlanReader, taskflow.PlanWriter](db), NewID: newID, NewShortID: access.RandomShortID,
	}
	a.Fields = &taskflow.Fields{Store: sqlstore.For[taskflow.FieldReader, taskflow.FieldWriter](db), Documents: db, Now: now, NewID: newID}
	a.Work = &taskflow.Work{
		Base: base, Store: sqlstore.For[taskflow.WorkReader, taskflow.WorkWriter](db), Arrivals: a.Tracking, Hub: a.Hub, NewID: newID,
	}
	a.Routes = &taskflow.Routes{Ways: geo.Roads{Maps: a.Maps.Roads, Speed: a.Config.Speed}}
	a.Pages = &taskflow.Pages{Base: base, Store: sqlstore.For[taskflow.PageReader, taskflow.PageWriter](db), Hub: a.Hub, Feedback: taskflow.NewFeedbackLimit(now), ParsePhone: sms.ParseNumber}
}

// placedTasks counts tasks that organizations placed with others.
type placedTasks struct{ *sqlstore.Store }

// CountPlaced implements taskflow.Placed.
func (s placedTasks) CountPlaced(ctx context.Context, origin lastmile.OrganizationID, limit int) (n int, err error) {
	err = s.Read(ctx, func(r *sqlstore.Tx) error {
		n, err = r.CountPlaced(ctx, origin, limit)
		return err
	})
	return n, err
}
