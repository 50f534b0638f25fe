# The sidecar and nothing else. "make" builds what is copied: static programs, for the platform that make ran on.
FROM scratch
COPY bin/bailiff bin/bailiff-runner bin/bailiff-host /usr/local/bin/
USER 10001:10001
ENTRYPOINT ["/usr/local/bin/bailiff"]
CMD ["serve", "--config", "/etc/bailiff/bailiff.yaml"]
