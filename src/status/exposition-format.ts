/** How metrics are written down: Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';
