typedef int placeholder_kmeans;
