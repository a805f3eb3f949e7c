package taskflow

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// legKey identifies a leg.
type legKey struct {
	by       lastmile.VehicleType
	from, to lastmile.Point
}

// legs are known legs. Finding a way on roads takes long, so the legs of a route are found
// before the transaction that stores it.
type legs map[legKey]travel.Leg

// findLegs returns the legs of a plan. It returns none if the plan is rejected, because the
// transaction returns that error.
func (rs *RoutePlans) findLegs(ctx context.Context, who lastmile.Principal, plan lastmile.RoutePlan) legs {
	var (
		by  lastmile.VehicleType
		way []lastmile.Point
	)
	err := rs.Store.Read(ctx, func(r PlanReader) error {
		tasks, err := r.TasksOf(ctx, who.Organization, plan.Tasks)
		if err != nil {
			return err
		}
		by, way, err = routeWay(ctx, r, plan, tasks)
		return err
	})
	if err != nil {
		return nil
	}
	found, err := rs.Ways.Legs(ctx, by, way)
	if err != nil {
		return nil
	}
	known := make(legs, len(found))
	for i, leg := range found {
		known[legKey{by, way[i], way[i+1]}] = leg
	}
	return known
}

// measureRoute sets the planned length of a route. It rejects a worker, a team or
// a hub that is not the organization's. Only legs that are not known are found.
func (rs *RoutePlans) measureRoute(ctx context.Context, r PlanReader, plan *lastmile.RoutePlan, tasks []lastmile.Task, known legs) error {
	by, way, err := routeWay(ctx, r, *plan, tasks)
	if err != nil {
		return err
	}
	var all []travel.Leg
	for i := range max(len(way)-1, 0) {
		leg, ok := known[legKey{by, way[i], way[i+1]}]
		if !ok {
			found, err := rs.Ways.Legs(ctx, by, way[i:i+2])
			if err != nil {
				return err
			}
			leg = found[0]
		}
		all = append(all, leg)
	}
	var service time.Duration
	for _, t := range tasks {
		if t.ServiceTime != nil {
			service += *t.ServiceTime
		}
	}
	travel.MeasureRoute(plan, all, service)
	return nil
}

// routeWay returns the locations along the route of a plan, and the vehicle. It rejects a
// worker, a team or a hub that is not the organization's.
func routeWay(ctx context.Context, r PlanReader, plan lastmile.RoutePlan, tasks []lastmile.Task) (by lastmile.VehicleType, way []lastmile.Point, err error) {
	var worker *lastmile.Worker
	if plan.Worker != "" {
		found, err := r.Worker(ctx, plan.Organization, plan.Worker)
		if err != nil {
			return by, nil, err
		}
		worker = &found
	}
	if plan.Team != "" {
		if _, err := r.Team(ctx, plan.Organization, plan.Team); err != nil {
			return by, nil, err
		}
	}
	way, err = routePoint(ctx, r, plan.Organization, plan.StartAt, plan.StartingHub, worker)
	if err != nil {
		return by, nil, err
	}
	for _, t := range tasks {
		way = append(way, t.Destination.Location)
	}
	end, err := routePoint(ctx, r, plan.Organization, plan.EndAt, plan.EndingHub, worker)
	return plan.TravelsBy(worker), append(way, end...), err
}

// routePoint returns the location where a route starts or ends; none if it is
// unknown.
func routePoint(ctx context.Context, r PlanReader, org lastmile.OrganizationID, at lastmile.RoutePoint, hub lastmile.HubID, worker *lastmile.Worker) ([]lastmile.Point, error) {
	if hub != "" {
		found, err := r.Hub(ctx, org, hub)
		if err != nil {
			return nil, err
		}
		if at == lastmile.AtHub {
			return []lastmile.Point{found.Location}, nil
		}
	}
	switch {
	case worker == nil:
	case at == lastmile.AtWorkerLocation && worker.Whereabouts.Location != nil:
		return []lastmile.Point{*worker.Whereabouts.Location}, nil
	case at == lastmile.AtWorkerAddress && worker.Routing != nil:
		return []lastmile.Point{worker.Routing.Location}, nil
	}
	return nil, nil
}
