package lastmile

// The Values methods list every value of an enumerated type, for documentation
// and validation.

// Values lists every type of administrator.
func (AdminType) Values() []AdminType { return []AdminType{AdminSuper, AdminStandard} }

// Values lists every type of metadata.
func (MetadataType) Values() []MetadataType {
	return []MetadataType{MetadataBoolean, MetadataNumber, MetadataString, MetadataObject, MetadataArray}
}

// Values lists every account status.
func (AccountStatus) Values() []AccountStatus {
	return []AccountStatus{AccountInvited, AccountAccepted}
}

// Values lists every vehicle type.
func (VehicleType) Values() []VehicleType { return VehicleTypes }

// Values lists every type of custom field.
func (CustomFieldType) Values() []CustomFieldType { return CustomFieldTypes }

// Values lists every point at which a route may start or end.
func (RoutePoint) Values() []RoutePoint { return RoutePoints }

// Values lists every state of a route plan.
func (RoutePlanState) Values() []RoutePlanState {
	return []RoutePlanState{RoutePlanPending, RoutePlanStarted, RoutePlanCompleted}
}

// Values lists every status of a route plan.
func (RoutePlanStatus) Values() []RoutePlanStatus {
	return []RoutePlanStatus{RoutePlanOnTime, RoutePlanLate}
}

// Values lists every status of a batch.
func (BatchStatus) Values() []BatchStatus { return BatchStatuses }

// Values lists every state of a task.
func (TaskState) Values() []TaskState {
	return []TaskState{TaskUnassigned, TaskAssigned, TaskActive, TaskCompleted}
}

// Values lists every kind of container.
func (ContainerKind) Values() []ContainerKind {
	return []ContainerKind{InOrganization, InTeam, InWorker}
}

// Values lists every type of actor.
func (ActorType) Values() []ActorType { return []ActorType{ActorAPI, ActorAdmin, ActorWorker} }
