package bailiff

# METADATA
# title: What a sandbox can reach
# description: |
#   The tables name a network for a chat or for its platform, none unless they do. Other
#   contributions can only close it further. A backend that shares the host's network
#   says so in the table of sandboxes.
networks contains {"network": "none"} if not _opened_by_table

networks contains _opened_by_table

# A chat cannot open what belongs to the backend, but close it.
networks contains _chat.network

_opened_by_table := said if {
	said := _sandbox.network
} else := said if {
	said := _chat.network
} else := data.bailiff.tables.network.platforms[input.session.platform]

# The strictest word that was said; an unknown word closes the network.
_network := "none" if "none" in _network_words

_network := "egress" if _network_words & {"none", "egress"} == {"egress"}

_network := "full" if _network_words == {"full"}

_network_words := {word |
	some said in networks
	word := _known_network(said)
}

default _known_network(_) := "none"

_known_network(said) := said.network if said.network in {"none", "egress", "full"}

# Destinations that every contribution with a list agrees on.
_egress := [] if _network != "egress"

_egress := sort(intersection({destinations |
	some said in networks
	said.network == "egress"
	destinations := {destination | some destination in said.egress}
})) if {
	_network == "egress"
}
