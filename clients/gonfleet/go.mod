module dray/clients/gonfleet

go 1.26

require github.com/onfleet/gonfleet v0.6.0

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	golang.org/x/time v0.3.0 // indirect
)
