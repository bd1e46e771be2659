typedef int placeholder_metrics;
