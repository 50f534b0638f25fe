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
				answer := by({"platforms": {"telegram": platform}, "sandboxes": {named: row}}, _apptainer_there(requested))
				answer.outcome == "allow"
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
	answer := by({"platforms": {"telegram": platform}, "sandboxes": {"singularity": {"host": true}}}, _apptainer_there(""))
	answer.outcome == "deny"
}

test_variable_enters_by_either_name if {
	every name in ["apptainer", "singularity"] {
		asked := object.union(_apptainer_there(name), {"env": {"requested": ["TZ"], "available": ["TZ"]}})
		tables := {
			"platforms": {"telegram": {"isolation": "required", "backends": ["apptainer"]}},
			"env": {"TZ": [{"platforms": ["*"], "backends": [name]}]},
		}
		by(tables, asked).env.forward == ["TZ"]
	}
}
