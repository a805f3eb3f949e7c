package wire

// SampleIDs maps the ids in the examples of the documentation to the shell variables that
// replace them in commands.
var SampleIDs = map[string]string{
	"T5mQ8rVx2LkD7wNz4HbC9pJs": "TEAM",
	"W4nB7xKq9LsT2vDz6MfR3hYc": "WORKER",
	"K2dF8gHj5LzX9cVb7NmQ4wRt": "TASK",
	"H7jK3lZx9CvB5nMq2WsD8fRt": "HUB",
	"D8sK2lZx9CvB5nMq3WsF7hRt": "DESTINATION",
	"Qt9LxW3mKc7VbN5zRs2HdP8f": "SERVICE",
	"Or4BnX8wQk2LmV6zRt9HsC3d": "ORDER",
	"U7jK3lZx9CvB5nMq2WsD8fRt": "SIGNATURE",
	"V2dF8gHj5LzX9cVb7NmQ4wRt": "PHOTO",
}
