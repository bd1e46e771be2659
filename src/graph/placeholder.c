typedef int placeholder_graph;
