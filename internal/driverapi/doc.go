// Package driverapi is the HTTP API of workers' phones: signing in, the list of
// tasks, actions, positions and uploads; and the protocol of tracker apps.
package driverapi
