package bailiff_test

# Requests and tables may call apptainer by its other name; the decision does not.
_apptainer_there(requested) := object.union(
	object.remove(_ls("telegram"), ["backend"]),
	{"backend": {"requested": requested, "available": {
		"apptainer": {"isolated": true, "ready": true},
		"singularity": {"isolated": true, "ready": true},
		"docker": {"isolated": true, "ready": true},
	}}},
)

test_alias_is_the_backend_whichever_table_uses_it if {
	row := object.union(_usual_sandbox, {"persistent": true, "scope": "user"})
	every listed in ["apptainer", "singularity"] {
		every named in ["apptainer", "singularity"] {
			platform := {"isolation": "required", "backends": ["docker", listed], "images": {named: "x.sif"}}
			every requested in ["apptainer", "singularity"] {
				tables := {"platforms": {"telegram": platform}, "sandboxes": {named: row}}
				_faults_by(tables, _apptainer_there(requested)) == []
				answer := _settled_by(tables, _apptainer_there(requested))
				answer.backend.name == "apptainer"
				answer.backend.image == "x.sif"
				answer.backend.scope == "user"
				answer.backend.persistent
			}
		}
	}
}

test_host_by_another_name_is_the_host if {
	platform := {"isolation": "required", "backends": ["apptainer"]}
	faults := _faults_by({"platforms": {"telegram": platform}, "sandboxes": {"singularity": {"host": true}}}, _apptainer_there(""))
	_rules_of(faults) == {"backend.none"}
}

test_variable_enters_by_either_name if {
	every name in ["apptainer", "singularity"] {
		asked := object.union(_apptainer_there(name), {"env": {"requested": ["TZ"], "available": ["TZ"]}})
		entry := {"platforms": ["*"], "backends": [name]}
		entries := data.bailiff._entries with input as asked
			with data.bailiff.tables.platforms as {"telegram": {"isolation": "required", "backends": ["apptainer"]}}
			with data.bailiff.tables.env as {"TZ": [entry]}
		entries == {"TZ": [entry]}
	}
}
