// Package docs holds the guides that the program serves at /docs.
package docs

import "embed"

// Guides are the guides, in Markdown.
//
//go:embed webhooks.md driver-api.md moving.md orders.md maps.md
var Guides embed.FS

// Order lists the files of Guides as readers see them.
var Order = []string{"webhooks.md", "driver-api.md", "orders.md", "maps.md", "moving.md"}
