import type { ProcessFiles } from "../readings/process-files.ts";
import { type MeasuredSubject, type SampleLabels, sampleOf } from "./measured-subject.ts";
import type { MetricFamily } from "./metric-page.ts";

/** Computes the series of what the processes of the cgroup itself have open, and how much they may. */
export function computeOpenFileSeries(subjects: readonly MeasuredSubject[]): MetricFamily[] {
  const family = (
    [name, help]: readonly [string, string],
    countOf: (files: ProcessFiles) => number | undefined,
    more: SampleLabels = {},
  ): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: subjects.flatMap((subject) => {
      const value = subject.files && countOf(subject.files);
      return value === undefined ? [] : [{ ...sampleOf(subject, value), labels: { ...subject.labels, ...more } }];
    }),
  });
  return [
    family(
      ["container_file_descriptors", "Number of open file descriptors for the container."],
      ({ open }) => open?.descriptors,
    ),
    family(["container_sockets", "Number of open sockets for the container."], ({ open }) => open?.sockets),
    family(
      [
        "container_ulimits_soft",
        "Soft ulimit values for the container root process. Unlimited if -1, except priority and nice",
      ],
      ({ limit }) => limit,
      { ulimit: "max_open_files" },
    ),
  ];
}
