# What a sandbox can reach.
#
# The table names a network for a platform, none unless it does. Whatever else
# contributes can only close it further. A backend that shares the host's network
# says so in the table of sandboxes.

package bailiff

networks contains {"network": "none"} if not opened_by_table

networks contains opened_by_table

opened_by_table := data.bailiff.tables.sandboxes[chosen].network

opened_by_table := data.bailiff.tables.network.platforms[input.session.platform] if {
	not data.bailiff.tables.sandboxes[chosen].network
}

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
