# What a sandbox can reach.
#
# The tables name a network for a chat or for its platform, none unless they do.
# Whatever else contributes can only close it further. A backend that shares the
# host's network says so in the table of sandboxes.

package bailiff

networks contains {"network": "none"} if not opened_by_table

networks contains opened_by_table

# A chat cannot open what belongs to the backend, but close it.
networks contains chat.network

opened_by_table := said if {
	said := sandbox.network
} else := said if {
	said := chat.network
} else := data.bailiff.tables.network.platforms[input.session.platform]

# The strictest word that was said; a word nobody knows closes the network.
network := "none" if "none" in network_words

network := "egress" if network_words & {"none", "egress"} == {"egress"}

network := "full" if network_words == {"full"}

network_words := {word |
	some said in networks
	word := known_network(said)
}

default known_network(_) := "none"

known_network(said) := said.network if said.network in {"none", "egress", "full"}

# Destinations that every contribution with a list agrees on.
egress := [] if network != "egress"

egress := sort(intersection({destinations |
	some said in networks
	said.network == "egress"
	destinations := {destination | some destination in said.egress}
})) if {
	network == "egress"
}
