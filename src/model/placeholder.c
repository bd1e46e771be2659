typedef int placeholder_model;
