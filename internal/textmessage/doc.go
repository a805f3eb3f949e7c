// Package textmessage holds the text messages that an organization sends:
// their kinds and states, what they say and in which language, how often they
// are tried, and the keywords that stop them.
package textmessage
